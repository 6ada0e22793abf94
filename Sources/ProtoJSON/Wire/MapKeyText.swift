import Bytes
import ProtobufSchema

/// The key of a map's entry as a step of a path.
enum MapKeyText {
  private static let maximumBytes = 128

  /// A key that is a text, cut when it is long.
  static func text(_ key: Span<UInt8>) -> String {
    String(repairing: key.extracting(first: min(key.count, maximumBytes)))
  }

  /// The text of the key that begins here, behind its tag; empty when it cannot be read.
  static func text(_ kind: ValueKind, _ source: WireReader) -> String {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    switch kind {
    case .string:
      guard let range = try? reader.readLengthDelimited() else { return "" }
      return text(reader.bytes.extracting(range))
    case .bool: return (try? reader.readVarint()).map { $0 == 0 ? "false" : "true" } ?? ""
    case .int32: return (try? reader.readVarint()).map { "\(Int32(truncatingIfNeeded: $0))" } ?? ""
    case .int64: return (try? reader.readVarint()).map { "\(Int64(bitPattern: $0))" } ?? ""
    case .uint32: return (try? reader.readVarint()).map { "\(UInt32(truncatingIfNeeded: $0))" } ?? ""
    case .sint32, .sint64: return (try? reader.readVarint()).map { "\(ZigZag.decode($0))" } ?? ""
    case .fixed32: return (try? reader.readFixed32()).map { "\($0)" } ?? ""
    case .sfixed32: return (try? reader.readFixed32()).map { "\(Int32(bitPattern: $0))" } ?? ""
    case .fixed64: return (try? reader.readFixed64()).map { "\($0)" } ?? ""
    case .sfixed64: return (try? reader.readFixed64()).map { "\(Int64(bitPattern: $0))" } ?? ""
    default: return (try? reader.readVarint()).map { "\($0)" } ?? ""
    }
  }
}
