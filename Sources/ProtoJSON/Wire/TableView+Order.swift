import ProtobufSchema

extension TableView {
  /// Whether each field of a message stands in one place already; a map of several entries may repeat a key.
  func isInOrder(_ plan: MessagePlan, _ source: WireReader, _ memory: inout RunMemory) -> Bool {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    var seen = SlotSet()
    var oneofs = SlotSet()
    var last = -1
    defer {
      seen.close(&memory)
      oneofs.close(&memory)
    }
    while !reader.isAtEnd {
      guard let tag = try? reader.readTag(), (try? reader.skip(tag)) != nil else { return false }
      let index = field(number: tag.number, of: plan)
      guard index >= 0, fields[index].accepts(tag.type) else {
        last = -1
        continue
      }
      let field = fields[index]
      if index == last, field.shape == .repeated || field.shape == .packed { continue }
      last = index
      guard seen.insert(Int(field.index), &memory), field.oneof < 0 || oneofs.insert(Int(field.oneof), &memory) else {
        return false
      }
    }
    return true
  }
}
