extension ByteBuffer {
  /// Makes room for this many more bytes behind the last one.
  @inlinable
  public mutating func reserve(_ more: Int) {
    if allocated &- tail < more { grow(more) }
  }

  @usableFromInline
  @inline(never)
  mutating func grow(_ more: Int) {
    let used = count
    precondition(more >= 0 && more < Int.max / 4 &- used, "buffer size")
    if head > 0 && allocated - used >= more && used <= allocated / 2, let base = unsafe base {
      // Room enough in front: move the unread bytes there instead of allocating.
      unsafe base.update(from: base + head, count: used)
    } else {
      let size = Swift.max(64, Swift.max(allocated * 2, used + more))
      let fresh = unsafe Self.allocate(size)
      if let base = unsafe base {
        unsafe fresh.update(from: base + head, count: used)
        // Without room of its own it was lent bytes that belong to somebody else.
        if allocated > 0 { unsafe Self.free(base) }
      }
      unsafe base = fresh
      allocated = size
    }
    head = 0
    tail = used
  }

  /// Bytes that fit behind the last one.
  @inlinable public var room: Int { Swift.max(0, allocated &- tail) }

  @inlinable
  public mutating func append(_ byte: UInt8) {
    if tail >= allocated { grow(1) }
    unsafe base.unsafelyUnwrapped[tail] = byte
    tail &+= 1
  }

  @inlinable
  public mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { source in unsafe append(source) }
  }

  @inlinable
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    unsafe UnsafeMutableRawPointer(base.unsafelyUnwrapped + tail).copyMemory(from: start, byteCount: bytes.count)
    tail &+= bytes.count
  }

  /// Appends the unread bytes of another buffer, or a range of them.
  @inlinable
  public mutating func append(_ other: borrowing ByteBuffer, _ range: Range<Int>? = nil) {
    if let range { append(other.span.extracting(range)) } else { append(other.span) }
  }

  @inlinable
  public mutating func append(_ bytes: [UInt8]) {
    append(bytes.span)
  }

  @inlinable
  public mutating func append(_ text: StaticString) {
    unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends the text as UTF-8.
  @inlinable
  public mutating func append(text: String) {
    var text = text
    text.withUTF8 { utf8 in unsafe append(UnsafeRawBufferPointer(utf8)) }
  }

  /// Appends a number in lower-case hexadecimal without leading zeros (chunk sizes).
  public mutating func append(hexadecimal value: Int) {
    var shift = 60
    let value = UInt64(truncatingIfNeeded: value)
    while shift > 0 && (value >> UInt64(shift)) & 15 == 0 { shift -= 4 }
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: (value >> UInt64(shift)) & 15)
      append(digit < 10 ? digit &+ 48 : digit &+ 87)
      shift -= 4
    }
  }

  /// Lets the body write into the room behind the last byte and takes over what it reports as written.
  ///
  /// - Returns: what the body reported; a negative number writes nothing (a failed system call).
  @inlinable
  @discardableResult
  public mutating func appendWithUnsafeRoom<E: Error>(
    _ minimum: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
  ) throws(E) -> Int {
    reserve(minimum)
    // Of lent bytes there is no room, and nothing to write to.
    if allocated == 0 { grow(1) }
    let room = unsafe UnsafeMutableRawBufferPointer(start: base.unsafelyUnwrapped + tail, count: allocated &- tail)
    let written = try unsafe body(room)
    precondition(written <= allocated &- tail, "more bytes reported than there was room")
    if written > 0 { tail &+= written }
    return written
  }

  /// Moves all unread bytes of another buffer to the end of this one; a swap when this one is empty.
  public mutating func take(from other: inout ByteBuffer) {
    if isEmpty && capacity <= other.capacity && other.capacity > 0 {
      swap(&self, &other)
      other.removeAll()
    } else {
      append(other.span)
      other.removeAll()
    }
  }
}
