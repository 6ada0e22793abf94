import CNghttp2
import Glibc

/// Where the library gets its memory from: small blocks that its sessions have given back are kept for the next ones of
/// the loop. Each frame that it sends or answers for a peer costs it one, a request some ten.
///
/// A block's size is what the C library says of it, so that a block has no head of its own.
@safe
final class SessionMemory {
  /// Blocks of 16 bytes more than the last class.
  private static let classes = 64
  private static let step = 16
  /// Blocks that are kept of each class.
  private static let limit = 64

  @safe
  private struct Block {
    let next: UnsafeMutableRawPointer?
    /// Blocks from this one on.
    let count: Int
  }

  private let free: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  let table: UnsafeMutablePointer<nghttp2_mem>

  init() {
    unsafe free = .allocate(capacity: Self.classes)
    unsafe free.initialize(repeating: nil, count: Self.classes)
    unsafe table = .allocate(capacity: 1)
    unsafe table.initialize(
      to: nghttp2_mem(
        mem_user_data: nil,
        malloc: { (size, user) in unsafe SessionMemory.with(user) { unsafe $0.take(size) } },
        free: { (block, user) in
          _ = unsafe SessionMemory.with(user) { memory in
            unsafe memory.give(block)
            return nil
          }
        },
        calloc: { (count, size, user) in unsafe SessionMemory.with(user) { unsafe $0.takeZeroed(count, size) } },
        realloc: { (block, size, user) in unsafe SessionMemory.with(user) { unsafe $0.resize(block, size) } }))
    unsafe table.pointee.mem_user_data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    for index in 0..<Self.classes {
      while let block = unsafe free[index] {
        unsafe free[index] = block.load(as: Block.self).next
        unsafe Glibc.free(block)
      }
    }
    unsafe free.deallocate()
    unsafe table.deallocate()
  }

  /// It lives as long as the workspace, which every session holds.
  @inline(__always)
  private static func with(
    _ user: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer? {
    guard let user = unsafe user else { return nil }
    return unsafe Unmanaged<SessionMemory>.fromOpaque(user)._withUnsafeGuaranteedRef { unsafe body($0) }
  }

  /// - Returns: nil when there is no memory.
  private func take(_ size: Int) -> UnsafeMutableRawPointer? {
    let index = (size &+ Self.step &- 1) / Self.step
    guard size >= 0, index < Self.classes else { return unsafe malloc(size) }
    guard let block = unsafe free[index] else { return unsafe malloc(Swift.max(1, index) &* Self.step) }
    unsafe free[index] = block.load(as: Block.self).next
    return unsafe block
  }

  private func takeZeroed(_ count: Int, _ size: Int) -> UnsafeMutableRawPointer? {
    let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: size)
    guard !isTooMuch, let block = unsafe take(bytes) else { return nil }
    unsafe memset(block, 0, bytes)
    return unsafe block
  }

  private func give(_ block: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    let index = unsafe malloc_usable_size(block) / Self.step
    guard index > 0, index < Self.classes else { return unsafe Glibc.free(block) }
    let next = unsafe free[index]
    let count = unsafe next?.load(as: Block.self).count ?? 0
    guard count < Self.limit else { return unsafe Glibc.free(block) }
    unsafe block.storeBytes(of: Block(next: next, count: count &+ 1), as: Block.self)
    unsafe free[index] = unsafe block
  }

  private func resize(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    guard let block = unsafe block else { return unsafe take(size) }
    let held = unsafe malloc_usable_size(block)
    guard size > held else { return unsafe block }
    guard let larger = unsafe take(size) else { return nil }
    unsafe memcpy(larger, block, held)
    unsafe give(block)
    return unsafe larger
  }
}
