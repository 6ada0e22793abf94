import Bytes
import Configuration
import EventLoops
import RPC

/// The process's own log, on stderr: one line an event, as text or JSON, written off the loops.
final class GatewayLog: Sendable {
  enum Level: String, Sendable {
    case info
    case warning
    case error
  }

  private let sink: LogSink
  private let format: LogFormat

  init(sink: LogSink, format: LogFormat) {
    self.sink = sink
    self.format = format
  }

  /// Writes one event. Control bytes are escaped, so a message is always one line.
  func write(_ level: Level, _ message: String) {
    var line = ByteBuffer()
    switch format {
    case .json:
      line.append("{\"time\":\"")
      WallClock.now().appendRFC3339(to: &line)
      line.append("\",\"level\":\"")
      line.append(text: level.rawValue)
      line.append("\",\"message\":")
      JSONText.append(message, into: &line)
      line.append("}\n")
    case .text:
      WallClock.now().appendRFC3339(to: &line)
      line.append(" ")
      line.append(text: level.rawValue)
      line.append(": ")
      LogText.append(message, to: &line)
      line.append("\n")
    }
    sink.write(line.span)
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
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029:
        line.append("\\u{")
        line.append(hexadecimal: Int(scalar.value))
        line.append("}")
      default: line.append(text: String(scalar))
      }
    }
  }
}
