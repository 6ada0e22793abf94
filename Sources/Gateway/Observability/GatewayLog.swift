import Bytes
import Configuration
import EventLoops
import JSONValues
import RPC
import Synchronization

/// The process's own log, on stderr: one line an event, as text or JSON, written off the loops.
final class GatewayLog: Sendable {
  enum Level: String, Sendable {
    case info
    case warning
    case error
  }

  private let sink: LogSink
  private let isJSON: Atomic<Bool>

  init(sink: LogSink, format: LogFormat) {
    self.sink = sink
    isJSON = Atomic(format == .json)
  }

  /// The events from here on are written so.
  func adopt(_ format: LogFormat) { isJSON.store(format == .json, ordering: .relaxed) }

  /// Writes one event. Control bytes are escaped, so a message is always one line.
  ///
  /// - Parameter members: what machines read of it: members beside the message in JSON, `name=value` behind it in text.
  func write(_ level: Level, _ message: String, _ members: [JSONValue.Member] = []) {
    var line = ByteBuffer()
    if isJSON.load(ordering: .relaxed) {
      line.append("{\"time\":\"")
      WallClock.now().appendRFC3339(to: &line)
      line.append("\",\"level\":\"")
      line.append(text: level.rawValue)
      line.append("\",\"message\":")
      JSONText.append(message, into: &line)
      for member in members {
        line.append(",")
        JSONText.append(member.name, into: &line)
        line.append(":")
        member.value.write(into: &line)
      }
      line.append("}\n")
    } else {
      WallClock.now().appendRFC3339(to: &line)
      line.append(" ")
      line.append(text: level.rawValue)
      line.append(": ")
      LogText.append(message, to: &line)
      for member in members { LogText.append(member, to: &line) }
      line.append("\n")
    }
    sink.write(line.span)
  }

  /// What has changed about another log.
  ///
  /// - Parameter name: as `the access log /var/log/x`.
  func write(_ notice: LogSink.Notice, of name: String) {
    switch notice {
    case .fails(let error): write(.error, "\(name) cannot be written, and loses lines: \(error.reason)")
    case .works(let lost): write(.info, "\(name) can be written again; \(lost) lines were lost")
    }
  }

  func flush() { sink.flush() }
}

/// Text in a log line: what could break the line or fool a terminal is escaped.
enum LogText {
  static func append(_ text: String, to line: inout ByteBuffer) {
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A: line.append("\\n")
      case 0x0D: line.append("\\r")
      case 0x09: line.append("\\t")
      // The last of these turn the rest of the line around (Unicode Standard Annex 9, section 2).
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
        line.append("\\u{")
        line.append(hexadecimal: Int(scalar.value))
        line.append("}")
      default: line.append(text: String(scalar))
      }
    }
  }

  /// ` name=value`: a value is JSON, but that words of plain characters need no quotes.
  static func append(_ member: JSONValue.Member, to line: inout ByteBuffer) {
    line.append(" ")
    append(member.name, to: &line)
    line.append("=")
    if let word = member.value.text, !word.isEmpty, word.utf8.allSatisfy({ isPlain($0) }), word != "null" {
      return append(word, to: &line)
    }
    append(String(decoding: member.value.bytes, as: UTF8.self), to: &line)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "_"),
      UInt8(ascii: "-"), UInt8(ascii: ":"):
      true
    default: false
    }
  }
}
