import HTTP1TestSupport
import Testing

/// Messages that the table tests use once and the split tests at every split.
struct Fixture: Sendable, CustomTestStringConvertible {
  let name: String
  let side: ConnectionTranscript.Side
  let text: String
  let lines: [String]

  var bytes: [UInt8] { Array(text.utf8) }
  var testDescription: String { name }

  static func request(_ name: String, _ text: String, _ lines: [String]) -> Fixture {
    Fixture(name: name, side: .requests, text: text, lines: lines)
  }

  static func response(_ name: String, _ text: String, _ lines: [String]) -> Fixture {
    Fixture(name: name, side: .responses, text: text, lines: lines)
  }

  static let all = requests + requestBodies + responses
}

/// The transcript line of connection options.
func options(
  close: Bool = false, keepAlive: Bool = false, upgradeToWebSocket: Bool = false, acceptsTrailers: Bool = false,
  expectsContinue: Bool = false
) -> String {
  "ConnectionOptions(close: \(close), keepAlive: \(keepAlive), upgradeToWebSocket: \(upgradeToWebSocket), "
    + "acceptsTrailers: \(acceptsTrailers), expectsContinue: \(expectsContinue))"
}

/// The lines of a message without a body whose fields are all kept.
func bodyless(_ start: String, _ fields: [String]) -> [String] {
  [start] + fields + ["framing none", options()] + fields.map { "kept \($0)" } + ["body 0: ", "end"]
}
