extension ByteBuffer {
  /// Drops bytes from the front.
  @inlinable
  public mutating func consume(_ bytes: Int) {
    precondition(bytes >= 0 && bytes <= count, "more bytes consumed than there are")
    head &+= bytes
    if head == tail {
      head = 0
      tail = 0
    }
  }

  /// Forgets all bytes and keeps the memory.
  @inlinable
  public mutating func removeAll() {
    head = 0
    tail = 0
  }

  /// Drops bytes at the back until this many unread ones are left.
  @inlinable
  public mutating func truncate(to length: Int) {
    precondition(length >= 0 && length <= count, "truncated to more bytes than there are")
    tail = head &+ length
  }

  /// Opens a gap of `width` bytes at an offset (a length that is known only after what follows it).
  ///
  /// The bytes of the gap keep old contents: the caller writes them by subscript.
  public mutating func openGap(at offset: Int, width: Int) {
    precondition(offset >= 0 && offset <= count && width >= 0, "gap outside the buffer")
    reserve(width)
    guard let base = unsafe base else { return }
    // `update(from:)` moves overlapping memory like memmove.
    unsafe (base + head + offset + width).update(from: base + head + offset, count: count - offset)
    tail &+= width
  }

  /// Gives the memory back; an idle connection holds none.
  public mutating func releaseStorage() {
    self = ByteBuffer()
  }
}
