import Bytes
import Configuration
import HTTPModel
import RPC

/// Tells a caller which JSON members its schema lacks: those of its own request, or those of a REST backend's answer.
///
/// Only on routes with `unknown_fields: report`, and only when the caller asks for it with
/// `x-turnout-report: unknown-fields`.
enum UnknownFieldsReport {
  private static let question: StaticString = "x-turnout-report"
  private static let topic: StaticString = "unknown-fields"
  private static let answer = "x-turnout-unknown-fields"

  /// Bytes of the header's value; paths beyond are left out.
  static let maximumLength = 1_024

  /// Whether a field is the caller's question, which is for the gateway alone.
  static func isRequest(_ name: Span<UInt8>) -> Bool { ASCII.equalIgnoringCase(name, question) }

  /// Adds new paths as long as the header has room for them: a client's stream may bring others with every message.
  static func keep(_ paths: [String], in known: inout [String]) {
    var room = maximumLength - known.reduce(0) { $0 + $1.utf8.count + 1 }
    for path in paths where path.utf8.count < room && !known.contains(path) {
      known.append(path)
      room -= path.utf8.count + 1
    }
  }

  static func write(_ call: Call, into fields: FieldBlock) {
    guard !call.unknownFields.isEmpty, isAsked(call.head.fields) else { return }
    fields.append(answer, value(call.unknownFields))
  }

  private static func isAsked(_ fields: FieldBlock) -> Bool {
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      guard fields.entry(at: index).name == .other, fields.withName(at: index, isRequest) else { continue }
      if fields.withValue(at: index, { HeaderList.has(topic, in: $0) }) { return true }
    }
    return false
  }

  /// The paths with commas between them, each once. A caller chooses the names in them: what is no plain path
  /// character is percent-encoded, the comma too.
  static func value(_ paths: [String]) -> String {
    var value = ByteBuffer()
    var known: Set<String> = []
    for path in paths where known.insert(path).inserted {
      var text = ByteBuffer()
      for byte in path.utf8 {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "$"), UInt8(ascii: "@"): text.append(byte)
        default: PercentCoding.encode([byte].span, into: &text)
        }
      }
      guard value.count + text.count + 1 <= maximumLength else { break }
      if !value.isEmpty { value.append(UInt8(ascii: ",")) }
      value.append(text)
    }
    return value.withSpan { String(repairing: $0) }
  }
}

extension Call {
  /// Members that the schema does not know were dropped: they are counted, and where the route says `report` named to
  /// who asks.
  func reportUnknownFields(_ paths: [String]) {
    guard let route else { return }
    if isCopy {
      // The call itself counts what its own message has.
      unknownFields += paths
      return
    }
    if isReplying { shadow?.unknown += paths }
    for path in paths { worker.metrics.calls.unknownField(route.plan, path, shard: worker.index) }
    if route.plan.settings.json.unknownFields == .report { UnknownFieldsReport.keep(paths, in: &unknownFields) }
  }
}
