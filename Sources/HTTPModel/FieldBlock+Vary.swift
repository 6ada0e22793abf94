import Bytes

extension FieldBlock {
  /// Says that the answer depends on a field of the request (RFC 9110 section 12.5.5), unless `Vary` says so already.
  package func vary(by name: StaticString) {
    for index in indices where entry(at: index).name == .vary && !entry(at: index).isRemoved {
      if withValue(at: index, { Self.lists(name, in: $0) }) { return }
    }
    append(.vary, name)
  }

  private static func lists(_ name: StaticString, in value: Span<UInt8>) -> Bool {
    var start = 0
    while start < value.count {
      let end = HeaderList.end(of: value, from: start, separator: UInt8(ascii: ","))
      let element = HeaderList.trimmed(value.extracting(start..<end))
      if ASCII.equal(element, "*") || ASCII.equalIgnoringCase(element, name) { return true }
      start = end &+ 1
    }
    return false
  }
}
