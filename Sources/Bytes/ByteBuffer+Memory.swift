import Glibc

/// Where buffers get their memory from: the C library's `malloc`. Swift's own `allocate(capacity:)` asks for aligned
/// memory there, which bytes do not need, and which costs four times as much.
extension ByteBuffer {
  /// Uninitialized memory; traps when there is none, as Swift's own allocation does.
  static func allocate(_ bytes: Int) -> UnsafeMutablePointer<UInt8> {
    guard let memory = unsafe malloc(bytes) else { preconditionFailure("out of memory") }
    return unsafe memory.bindMemory(to: UInt8.self, capacity: bytes)
  }

  @usableFromInline
  static func free(_ base: UnsafeMutablePointer<UInt8>) {
    unsafe Glibc.free(base)
  }

  /// Gives the memory away, with whatever is in it; nil when there is none of its own.
  consuming func release() -> (base: UnsafeMutablePointer<UInt8>, capacity: Int)? {
    let base = unsafe base
    let capacity = allocated
    discard self
    guard capacity > 0, let base = unsafe base else { return nil }
    return unsafe (base, capacity)
  }

  /// A buffer in memory that ``release()`` gave away.
  init(owning base: UnsafeMutablePointer<UInt8>, capacity: Int, head: Int = 0, tail: Int = 0) {
    self.init()
    unsafe self.base = unsafe base
    allocated = capacity
    self.head = head
    self.tail = tail
  }

  /// Calls the body with a buffer that holds bytes in another's memory, so that they need not be copied to be handed on.
  ///
  /// It has a capacity of 0. Who takes its bytes copies them (``take(from:)`` does), and who appends to it makes it a
  /// copy; only the buffer itself must not be put elsewhere, which traps.
  @inlinable
  public static func lending(_ bytes: UnsafeRawBufferPointer, _ body: (inout ByteBuffer) -> Void) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    // Nothing is written there: without room of its own the first byte that is appended makes a copy.
    let lent = unsafe UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: UInt8.self)
    var buffer = ByteBuffer()
    unsafe buffer.base = lent
    buffer.tail = bytes.count
    body(&buffer)
    let isInPlace = unsafe buffer.allocated > 0 || buffer.base == lent
    precondition(isInPlace, "lent bytes were put elsewhere")
  }
}
