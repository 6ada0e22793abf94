/// A growable run of bytes, read from the front and written at the back.
///
/// The one buffer of the program: what a socket filled, what a parser consumes, what an encoder writes. It owns its
/// memory and cannot be copied, so a ``span`` of it can never outlive or see a change of it. An empty buffer that was
/// never written holds no memory. Growth doubles; nothing shrinks but by ``releaseStorage()``.
@safe
public struct ByteBuffer: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<UInt8>?
  @usableFromInline var allocated: Int
  /// Offset of the first unread byte.
  @usableFromInline var head: Int
  /// Offset behind the last written byte.
  @usableFromInline var tail: Int

  @inlinable
  public init() {
    unsafe base = nil
    allocated = 0
    head = 0
    tail = 0
  }

  /// A buffer with room for at least this many bytes.
  @inlinable
  public init(minimumCapacity: Int) {
    self.init()
    reserve(minimumCapacity)
  }

  @inlinable
  public init(_ bytes: some Sequence<UInt8>) {
    self.init()
    for byte in bytes { append(byte) }
  }

  @inlinable
  deinit {
    if allocated > 0, let base = unsafe base { unsafe Self.free(base) }
  }

  /// Unread bytes.
  @inlinable public var count: Int { tail &- head }
  @inlinable public var isEmpty: Bool { tail == head }
  /// Bytes of memory held.
  @inlinable public var capacity: Int { allocated }

  /// The unread bytes.
  @inlinable
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      guard let base = unsafe base else { return Span() }
      let span = unsafe Span(_unsafeStart: base + head, count: tail &- head)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Calls the body with the unread bytes, or those of a range of them.
  ///
  /// For buffers that are stored in a class: there a ``span`` cannot leave the access that made it.
  @inlinable
  public func withSpan<R: ~Copyable, E: Error>(
    _ range: Range<Int>? = nil, _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    guard let range else { return try body(span) }
    return try body(span.extracting(range))
  }

  /// The unread byte at an offset from the front; traps outside.
  @inlinable
  public subscript(offset: Int) -> UInt8 {
    get {
      precondition(offset >= 0 && offset < tail &- head, "byte offset outside the buffer")
      guard let base = unsafe base else { return 0 }
      return unsafe base[head &+ offset]
    }
    set {
      precondition(offset >= 0 && offset < tail &- head, "byte offset outside the buffer")
      unsafe base?[head &+ offset] = newValue
    }
  }

  /// Calls the body with the unread bytes, for system calls and C libraries.
  @inlinable
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    guard let base = unsafe base else { return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    return try unsafe body(UnsafeRawBufferPointer(start: base + head, count: tail &- head))
  }

  /// A copy of the unread bytes.
  public var bytes: [UInt8] {
    // The empty array is one for all threads, and would be written to.
    if isEmpty { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
      unsafe withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(target).copyMemory(from: source)
      }
      initialized = count
    }
  }
}
