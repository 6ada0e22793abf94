import EventLoops
import Synchronization
import Testing

@testable import Gateway

/// Calls go on while reloads move their route to and fro, its upstreams coming and going with it.
@Suite struct ReloadUnderLoadTests {
  private static let reloads = 40
  private static let clients = 4

  private func backend(_ name: JSONValue) throws -> LocalServer {
    let address = try #require(SocketAddress(host: "127.0.0.1", port: 0))
    return try LocalServer(address: address, name: "backend") { _ in .json(["id": name]) }
  }

  @Test(arguments: [1, 2])
  func noCallFails(workers: Int) throws {
    let (rest, rpc) = (try backend("rest"), try backend("rpc"))
    defer {
      for server in [rest, rpc] { server.stop() }
      for server in [rest, rpc] { server.join() }
    }
    func configuration(_ round: Int) -> String {
      let (old, new) = ("http://\(rest.address.text)", "http://\(rpc.address.text)")
      let text =
        switch round % 3 {
        case 0: Depot.configuration(rest: old, rpc: nil)
        case 1: Depot.configuration(rest: nil, rpc: new, ["stage: rpc"])
        default: Depot.configuration(rest: old, rpc: new, ["stage: \(round % 2 == 0 ? "rest" : "rpc")"])
        }
      return text.replacing("workers: 1", with: "workers: \(workers)")
    }
    let gateway = try TestGateway(configuration(0))
    let address = try #require(gateway.running.addresses.listeners.first)
    let isOver = Flag()
    let failures = Journal()
    var threads: [LoopThread] = []
    for number in 0..<Self.clients {
      let client = try Asker(address)
      threads.append(
        try LoopThread.start(name: "client\(number)") {
          while !isOver.isSet {
            let answer = client.ask()
            if answer != #"{"id":"rest"}"#, answer != #"{"id":"rpc"}"# { failures.write(answer) }
          }
        })
    }
    for round in 1...Self.reloads {
      guard case .ok = try gateway.reload(configuration(round)) else {
        Issue.record("reload \(round) failed")
        break
      }
    }
    isOver.set()
    for thread in threads { thread.join() }
    #expect(failures.all == [])
    let calls = gateway.metric("turnout_requests_total")
    #expect(calls > 0)
    #expect(calls == gateway.metric("turnout_requests_total", "code=\"ok\""))
  }
}

/// A client that another thread uses, one call at a time.
private final class Asker: Sendable {
  private let client: Mutex<RawClient>

  init(_ address: SocketAddress) throws { client = Mutex(try RawClient(address)) }

  /// The body of the next answer, or what went wrong.
  func ask() -> String {
    client.withLock { client in
      do {
        let answer = try client.ask("GET", "/v1/crates/7")
        return answer.status == 200 ? answer.text : "\(answer.status) \(answer.text)"
      } catch {
        return "\(error)"
      }
    }
  }
}

private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
