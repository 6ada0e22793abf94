/// The buckets of many keys, at most so many.
///
/// A full table gives a new key the place of the bucket that is full again first. If that one is not full yet, the new
/// key takes its debt over (as in the space-saving algorithm): the least debt in the table never falls by that, so a
/// key that was put out finds at least its old debt when it comes back, and nobody is forgiven anything by making keys
/// up.
struct BucketTable: Sendable {
  private struct Slot: Sendable {
    var key: UInt64
    var bucket: TokenBucket
  }

  /// What the heap is ordered by: when a bucket was full at the time that the heap last saw it. Buckets only move
  /// away, so this is a lower bound, and taking a token does not touch the heap.
  private struct HeapEntry: Sendable {
    var fullAt: UInt64
    var slot: Int
  }

  private let capacity: Int
  private var slots: [Slot] = []
  private var index: [UInt64: Int] = [:]
  private var heap: [HeapEntry] = []

  /// - Parameter capacity: keys; less than 1 counts as 1.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  var count: Int { slots.count }

  /// Takes tokens of a key: all of them, or none.
  mutating func take(_ key: UInt64, at now: UInt64, _ rate: Rate, cost: Int = 1) -> TokenBucket.Outcome {
    if let slot = index[key] { return slots[slot].bucket.take(at: now, rate, cost: cost) }
    guard slots.count == capacity else {
      var bucket = TokenBucket()
      let outcome = bucket.take(at: now, rate, cost: cost)
      let slot = slots.count
      slots.append(Slot(key: key, bucket: bucket))
      index[key] = slot
      push(HeapEntry(fullAt: bucket.fullAt, slot: slot))
      return outcome
    }
    return replaceLeast(with: key, at: now, rate, cost)
  }

  /// The bucket that a key has, or would begin with.
  ///
  /// Asked before a take under the same lock, it tells what that will say.
  mutating func bucket(of key: UInt64, at now: UInt64) -> TokenBucket {
    if let slot = index[key] { return slots[slot].bucket }
    guard slots.count == capacity else { return TokenBucket() }
    settleRoot()
    return inherited(at: now)
  }

  /// What a stranger begins with in a full table whose heap is settled.
  private func inherited(at now: UInt64) -> TokenBucket {
    guard let least = heap.first?.slot, slots[least].bucket.fullAt > now else { return TokenBucket() }
    // One nanosecond more covers the fraction that two equal moments may differ by.
    return TokenBucket(fullAt: slots[least].bucket.fullAt &+ 1)
  }

  private mutating func replaceLeast(
    with key: UInt64, at now: UInt64, _ rate: Rate, _ cost: Int
  ) -> TokenBucket.Outcome {
    settleRoot()
    guard let least = heap.first?.slot else { return .taken }
    let old = slots[least]
    var bucket = inherited(at: now)
    let outcome = bucket.take(at: now, rate, cost: cost)
    // A refused stranger takes nothing, so it does not put anybody out.
    guard outcome == .taken else { return outcome }
    index[old.key] = nil
    index[key] = least
    slots[least] = Slot(key: key, bucket: bucket)
    heap[0].fullAt = bucket.fullAt
    sinkRoot()
    return outcome
  }

  /// Brings the bucket that is full first to the root.
  private mutating func settleRoot() {
    while let root = heap.first {
      let actual = slots[root.slot].bucket.fullAt
      if actual == root.fullAt { return }
      heap[0].fullAt = actual
      sinkRoot()
    }
  }

  private mutating func push(_ entry: HeapEntry) {
    heap.append(entry)
    var at = heap.count - 1
    while at > 0, heap[(at - 1) / 2].fullAt > heap[at].fullAt {
      heap.swapAt(at, (at - 1) / 2)
      at = (at - 1) / 2
    }
  }

  private mutating func sinkRoot() {
    var at = 0
    while true {
      var child = 2 * at + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, heap[child + 1].fullAt < heap[child].fullAt { child += 1 }
      guard heap[child].fullAt < heap[at].fullAt else { return }
      heap.swapAt(at, child)
      at = child
    }
  }
}
