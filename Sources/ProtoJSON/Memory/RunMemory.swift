import Bytes
import Synchronization

/// What a run of the codec borrows when a message does not fit on the stack: a map of many keys, a message of many
/// fields, an `Any`, an escaped name, fields that are put in order.
///
/// Nothing is taken before it is needed. The run closes it, and the next run that needs memory finds it warm.
struct RunMemory {
  private let store: MemoryStore
  private var block: MemoryBlock?

  init(_ store: MemoryStore) { self.store = store }

  private mutating func open() -> MemoryBlock {
    if let block { return block }
    let taken = store.take()
    block = taken
    return taken
  }

  /// Gives all of it back; what was taken and not given is lost.
  mutating func close() {
    if let block = block.take() { store.give(block) }
  }

  /// An empty buffer, which may hold memory.
  mutating func takeBuffer() -> ByteBuffer { open().buffers.take() }

  mutating func give(_ buffer: inout ByteBuffer) {
    var taken = ByteBuffer()
    swap(&taken, &buffer)
    taken.removeAll()
    open().buffers.give(taken)
  }

  mutating func takeTable() -> HashTable { open().tables.popLast() ?? HashTable() }

  mutating func give(_ table: HashTable) {
    table.removeAll()
    open().tables.append(table)
  }

  /// An empty array, which may hold memory.
  mutating func takeWords() -> [UInt64] { open().words.popLast() ?? [] }

  mutating func give(_ words: consuming [UInt64]) {
    words.removeAll(keepingCapacity: true)
    open().words.append(words)
  }

  /// For one message at a time.
  mutating func fieldRecords() -> FieldRecords { open().records }
}

/// The memory of one run at a time.
///
/// Unchecked: it is no run's and no thread's own. Whoever takes it out of the store has it alone until giving it back, and
/// the store's lock orders the two.
final class MemoryBlock: @unchecked Sendable {
  var buffers = BufferPool(bufferCapacity: 512, limit: 8, maximumCapacity: 256 << 10)
  var tables: [HashTable] = []
  var words: [[UInt64]] = []
  let records = FieldRecords()
}

/// The blocks of one codec that no run has: at most as many as runs were under way at the same time, one for each loop.
final class MemoryStore: Sendable {
  private let spare = Mutex<[MemoryBlock]>([])

  func take() -> MemoryBlock { spare.withLock { $0.popLast() } ?? MemoryBlock() }
  func give(_ block: MemoryBlock) { spare.withLock { $0.append(block) } }
}
