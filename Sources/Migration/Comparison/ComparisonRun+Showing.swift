import Bytes
import ProtoJSON
import ProtobufSchema

/// What samples and logs may say of a value.
extension ComparisonRun {
  static var hidden: DifferenceValue { .text("(redacted)") }
  /// Bytes of a text that `samples: values` keeps.
  private static var maximumText: Int { 256 }

  func describe(_ field: ComparedField, _ found: Occurrence, _ side: Side) -> DifferenceValue {
    if field.isSecret { return Self.hidden }
    switch field.kind {
    case .message, .group: return describeMessage(field, found.content, side)
    case .string, .bytes: return text(bytes(side, found.content), isText: field.kind == .string)
    case .bool: return .literal(found.raw == 0 ? "false" : "true")
    case .enum: return enumeration(field, Int32(truncatingIfNeeded: found.raw))
    default: return Self.literal(field.kind, found.raw)
    }
  }

  private func enumeration(_ field: ComparedField, _ number: Int32) -> DifferenceValue {
    guard field.enumIndex >= 0, let name = plan.schema.enums[Int(field.enumIndex)].name(of: number) else {
      return .literal("\(number)")
    }
    return .text(name)
  }

  private static func literal(_ kind: Field.Kind, _ raw: UInt64) -> DifferenceValue {
    switch kind {
    case .double: return decimal(Double(bitPattern: raw))
    case .float: return decimal(Float(bitPattern: UInt32(truncatingIfNeeded: raw)))
    case .sint32, .sint64: return .literal("\(ZigZag.decode(raw))")
    case .sfixed32, .int32: return .literal("\(Int32(truncatingIfNeeded: raw))")
    case .int64, .sfixed64: return .literal("\(Int64(bitPattern: raw))")
    default: return .literal("\(raw)")
    }
  }

  private static func decimal(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> DifferenceValue {
    value.isFinite ? .literal(value.description) : .text(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity")
  }

  private func describeMessage(_ field: ComparedField, _ range: Range<Int>, _ side: Side) -> DifferenceValue {
    switch field.form {
    case .timestamp, .duration: return json(field, range, side) ?? .text("a time out of range")
    case .wrapper:
      guard let index = plan.messages[Int(field.node)].fields.first else { break }
      let inner = plan.fields[index]
      let found = (try? only(1, side, range)) ?? nil
      return describe(inner, found ?? Occurrence(number: 1, type: inner.wireType, start: 0), side)
    case .value:
      let message = plan.messages[Int(field.node)]
      guard !range.isEmpty, let found = try? next(side, range.lowerBound, range.upperBound),
        let position = plan.position(of: found.number, in: message)
      else { return .text("no value") }
      let inner = plan.fields[Int(message.fieldsStart) + position]
      if inner.kind == .enum { return .literal("null") }
      return describe(inner, found, side)
    case .structure: return .text("an object of \(range.count) bytes")
    case .listValue: return .text("a list of \(range.count) bytes")
    case .any:
      let name = (try? typeName(side, range)) ?? ""
      return .text("\(name) of \(range.count) bytes")
    case .plain, .fieldMask: break
    }
    return .text("a message of \(range.count) bytes")
  }

  /// A time as ProtoJSON writes it.
  private func json(_ field: ComparedField, _ range: Range<Int>, _ side: Side) -> DifferenceValue? {
    var output = ByteBuffer()
    let message = Int(plan.messages[Int(field.node)].message)
    do throws(JSONError) {
      try codec.encode(bytes(side, range), message: message, into: &output)
    } catch {
      return nil
    }
    let written = output.span
    guard written.count >= 2, written[0] == UInt8(ascii: "\"") else { return .literal(String(repairing: written)) }
    return .text(String(repairing: written.extracting(1..<written.count - 1)))
  }

  private func text(_ value: Span<UInt8>, isText: Bool) -> DifferenceValue {
    let size = "\(value.count) byte\(value.count == 1 ? "" : "s")"
    guard keepsValues else {
      var digits = String(UInt32(truncatingIfNeeded: KeyedHash.of(value)), radix: 16)
      digits = String(repeating: "0", count: 8 - digits.utf8.count) + digits
      return .text("\(size), hash \(digits)")
    }
    guard isText else {
      var encoded = ByteBuffer()
      Base64.encode(value.extracting(first: min(value.count, Self.maximumText)), into: &encoded)
      return .text(encoded.withSpan { String(repairing: $0) } + (value.count > Self.maximumText ? "… (\(size))" : ""))
    }
    guard value.count > Self.maximumText else { return .text(String(repairing: value)) }
    var length = Self.maximumText
    while length > 0, value[length] & 0xC0 == 0x80 { length -= 1 }
    return .text(String(repairing: value.extracting(first: length)) + "… (\(size))")
  }
}
