import Bytes

extension FieldBlock {
  /// Says that the answer depends on a field of the request (RFC 9110 section 12.5.5), unless `Vary` says so already.
  public func vary(by name: StaticString) {
    for index in indices where entry(at: index).name == .vary && !entry(at: index).isRemoved {
      if withValue(at: index, { HeaderList.has("*", in: $0) || HeaderList.has(name, in: $0) }) { return }
    }
    append(.vary, name)
  }
}
