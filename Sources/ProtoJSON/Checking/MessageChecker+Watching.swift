import Bytes
import ProtobufSchema

extension MessageChecker {
  /// Compares a field with what is bound.
  ///
  /// - Returns: the bindings inside the field's message.
  mutating func compare(
    _ field: FieldPlan, _ content: Range<Int>, _ start: Int, _ bindings: UInt64, _ level: Int
  ) throws(Fault) -> UInt64 {
    let watch = tables.watch(bound, field, bindings, level: level)
    guard !watch.isSibling else {
      throw Fault(.conflict, at: start, "no member of the oneof expected: the request binds another one")
    }
    // A part of a well-known type is bound by no path; what there is of it would contradict the whole.
    guard watch.inner == 0 || field.kind == .message || field.kind == .group else {
      throw Fault(.conflict, at: start, "no value here: a part of it is bound by the request")
    }
    guard let leaf = watch.leaf else { return watch.inner }
    met |= 1 &<< UInt64(leaf)
    if !field.kind.isScalar {
      parts.append((leaf, field, content))
    } else if !agrees(field, content, bound[leaf].wire) {
      throw differs(at: start)
    }
    return watch.inner
  }

  /// Whether a scalar is the bound one, however it is spelt: varints may be longer than they need be.
  private func agrees(_ field: FieldPlan, _ content: Range<Int>, _ bound: [UInt8]) -> Bool {
    var own = WireReader(wire, content)
    let bytes = bound.span
    var other = WireReader(bytes)
    do throws(WireError) {
      _ = try other.readTag()
      switch field.wireType {
      case .varint:
        let value = try own.readVarint()
        return Self.value(of: field.kind, value) == Self.value(of: field.kind, try other.readVarint())
      case .fixed32: return try own.readFixed32() == other.readFixed32()
      case .fixed64: return try own.readFixed64() == other.readFixed64()
      default: return ASCII.equal(wire.extracting(content), bytes.extracting(try other.readLengthDelimited()))
      }
    } catch {
      return false
    }
  }

  /// What a parser makes of a varint.
  private static func value(of kind: ValueKind, _ varint: UInt64) -> UInt64 {
    switch kind {
    case .bool: varint == 0 ? 0 : 1
    case .int32, .uint32, .sint32, .enumeration, .nullValue: varint & 0xFFFF_FFFF
    default: varint
    }
  }

  private func differs(at offset: Int) -> Fault {
    Fault(.conflict, at: offset, "the value that the request binds elsewhere expected")
  }

  // MARK: Messages

  /// Compares the bound values that are messages, once all their parts are known: their texts are the same or not.
  ///
  /// - Parameter root: the checked message.
  func compareMessages(in root: Int) throws(Fault) {
    var done: UInt64 = 0
    for part in parts where done & (1 &<< UInt64(part.entry)) == 0 {
      done |= 1 &<< UInt64(part.entry)
      var merged = ByteBuffer()
      for other in parts where other.entry == part.entry { merged.append(wire.extracting(other.content)) }
      let bytes = bound[part.entry].wire
      let value = bytes.span
      var reader = WireReader(value)
      if let tag = try? reader.readTag(), tag.type == .lengthDelimited, let content = try? reader.readLengthDelimited(),
        let own = text(of: part.field, merged.span), own == text(of: part.field, value.extracting(content))
      {
        continue
      }
      var fault = differs(at: part.content.lowerBound)
      fault.path = path(of: part.entry, in: root)
      throw fault
    }
  }

  private func text(of field: FieldPlan, _ payload: Span<UInt8>) -> [UInt8]? {
    var text = ByteBuffer()
    do throws(Fault) {
      let writer = TextWriter(tables: tables, schema: schema, profile: profile, memory: RunMemory(memory))
      try writer.value(field, payload, into: &text)
    } catch {
      return nil
    }
    return text.bytes
  }

  private func path(of entry: Int, in root: Int) -> String {
    var names: [String] = []
    var message = root
    for step in bound[entry].fieldPath {
      let field = schema.messages[message].fields[step]
      names.append(field.jsonName)
      message = field.messageIndex
    }
    return names.joined(separator: ".")
  }
}
