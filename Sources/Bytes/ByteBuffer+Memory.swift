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

  /// Gives the memory away, with whatever is in it; nil when there is none.
  consuming func release() -> (base: UnsafeMutablePointer<UInt8>, capacity: Int)? {
    let base = unsafe base
    let capacity = allocated
    discard self
    guard let base = unsafe base else { return nil }
    return unsafe (base, capacity)
  }

  /// An empty buffer in memory that ``release()`` gave away.
  init(owning base: UnsafeMutablePointer<UInt8>, capacity: Int) {
    self.init()
    unsafe self.base = unsafe base
    allocated = capacity
  }
}
