import Bytes
import ProtobufSchema

extension MessageEncoder {
  /// Writes the members of a message set: each message of a known type under the name of its extension, in the order of
  /// the first part of each.
  mutating func messageSet(_ message: Int, _ source: WireReader, into output: inout ByteBuffer) throws(Fault) {
    var order: [Int] = []
    var parts: [Int: [Range<Int>]] = [:]
    do {
      var reader = WireReader(source.bytes, source.offset..<source.limit)
      while let tag = try reader.nextTag() {
        guard let item = try MessageSetItem(tag, &reader) else { continue }
        let index = tables.field(number: item.type, of: tables.messages[message])
        guard index >= 0 else { continue }
        if parts[index] == nil { order.append(index) }
        parts[index, default: []].append(item.content)
      }
    } catch {
      throw Fault(error)
    }
    for index in order {
      let field = tables.fields[index]
      name(field, into: &output)
      do throws(Fault) {
        try item(field, parts[index] ?? [], source, into: &output)
      } catch {
        throw located(error, in: field)
      }
    }
  }

  /// Writes one message of a set; several parts of it are merged as concatenated bytes are.
  private mutating func item(
    _ field: FieldPlan, _ parts: [Range<Int>], _ source: WireReader, into output: inout ByteBuffer
  ) throws(Fault) {
    let kind = tables.messages[Int(field.sub)].kind
    if parts.count == 1, let only = parts.first {
      try value(kind, Int(field.sub), WireReader(source.bytes, only), omit: 0, level: 0, into: &output)
      return
    }
    var merged = memory.takeBuffer()
    defer { memory.give(&merged) }
    for part in parts { merged.append(source.bytes.extracting(part)) }
    let span = merged.span
    do throws(Fault) {
      try value(kind, Int(field.sub), WireReader(span), omit: 0, level: 0, into: &output)
    } catch {
      throw error.moved(to: source.offset)
    }
  }
}
