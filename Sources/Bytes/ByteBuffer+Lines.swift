/// Lines of an HTTP/1 head: `name: value` and the end of the line.
extension ByteBuffer {
  public mutating func append(line name: Span<UInt8>, _ value: Span<UInt8>) {
    unsafe name.withUnsafeBytes { name in
      unsafe value.withUnsafeBytes { value in unsafe append(line: name, value) }
    }
  }

  public mutating func append(line name: StaticString, _ value: Span<UInt8>) {
    unsafe value.withUnsafeBytes { value in unsafe append(line: Self.bytes(of: name), value) }
  }

  public mutating func append(line name: StaticString, _ value: StaticString) {
    unsafe append(line: Self.bytes(of: name), Self.bytes(of: value))
  }

  @inline(__always)
  private static func bytes(of text: StaticString) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// One look for room, and the marks between as one store each: a head has dozens of these lines.
  private mutating func append(line name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let length = name.count &+ value.count &+ 4
    reserve(length)
    guard let base = unsafe base else { return }
    var end = unsafe UnsafeMutableRawPointer(base + tail)
    if let start = name.baseAddress { unsafe end.copyMemory(from: start, byteCount: name.count) }
    unsafe end += name.count
    unsafe end.storeBytes(of: UInt16(littleEndian: 0x203A), as: UInt16.self)
    unsafe end += 2
    if let start = value.baseAddress { unsafe end.copyMemory(from: start, byteCount: value.count) }
    unsafe end += value.count
    unsafe end.storeBytes(of: UInt16(littleEndian: 0x0A0D), as: UInt16.self)
    tail &+= length
  }
}
