import HTTPModel
import RPC
import Synchronization

@testable import Gateway

/// What interceptors were told, in order.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  func write(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
  func count(of line: String) -> Int { all.filter { $0 == line }.count }
}

/// An interceptor that writes down what it is told, and says of a call what it was made to say.
struct JournalInterceptor: Interceptor {
  let name: String
  let journal: Journal
  var verdict: @Sendable (Call) -> InterceptorVerdict = { _ in .proceed }

  func onCall(_ call: Call) -> InterceptorVerdict {
    journal.write("\(name) call")
    return verdict(call)
  }

  func onReply(_ call: Call, _ fields: FieldBlock) {
    journal.write("\(name) reply \(call.status)")
    fields.append("x-left", name)
  }

  func onEnd(_ call: Call) { journal.write("\(name) end \(call.outcome.map { "\($0.name)" } ?? "ok")") }
}
