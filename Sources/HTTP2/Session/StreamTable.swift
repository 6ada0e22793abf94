/// The open streams of one connection by their numbers: every frame looks its stream up, some of them several times.
///
/// Open addressing over two flat arrays. A peer chooses its numbers, but
/// no more than some hundred streams are open, so the longest search that it can make is short, too.
struct StreamTable {
  /// 0: free. A connection has no stream 0 (RFC 9113 section 5.1.1).
  private var numbers: [Int32] = []
  private var streams: [HTTP2Stream?] = []
  private var shift: UInt32 = 32
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The stream of a number; nil when there is none.
  func find(_ id: Int32) -> HTTP2Stream? { slot(of: id).flatMap { streams[$0] } }

  /// Adds a stream under its number, which is not there yet.
  mutating func insert(_ stream: HTTP2Stream) {
    guard stream.number > 0 else { return }
    if (count &+ 1) * 2 > numbers.count { grow() }
    place(stream)
    count &+= 1
  }

  mutating func remove(_ id: Int32) -> HTTP2Stream? {
    guard var hole = slot(of: id) else { return nil }
    let removed = streams[hole]
    let mask = numbers.count &- 1
    // Those behind that were pushed on by what was here move back.
    var next = (hole &+ 1) & mask
    while numbers[next] != 0 {
      let home = home(of: numbers[next])
      if (next &- home) & mask >= (next &- hole) & mask {
        numbers[hole] = numbers[next]
        streams[hole] = streams[next]
        hole = next
      }
      next = (next &+ 1) & mask
    }
    numbers[hole] = 0
    streams[hole] = nil
    count &-= 1
    return removed
  }

  /// The numbers at present.
  var ids: [Int32] { numbers.filter { $0 != 0 } }

  /// Multiplied by the golden ratio: numbers that follow each other are spread.
  private func home(of id: Int32) -> Int {
    Int(truncatingIfNeeded: (UInt32(bitPattern: id) &* 0x9E37_79B9) >> shift)
  }

  private func slot(of id: Int32) -> Int? {
    guard count > 0, id > 0 else { return nil }
    let mask = numbers.count &- 1
    var slot = home(of: id)
    // Half of the slots are free at least.
    while numbers[slot] != 0 {
      if numbers[slot] == id { return slot }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  private mutating func place(_ stream: HTTP2Stream) {
    let mask = numbers.count &- 1
    var slot = home(of: stream.number)
    while numbers[slot] != 0 { slot = (slot &+ 1) & mask }
    numbers[slot] = stream.number
    streams[slot] = stream
  }

  private mutating func grow() {
    let before = streams
    let size = Swift.max(8, numbers.count * 2)
    numbers = [Int32](repeating: 0, count: size)
    streams = [HTTP2Stream?](repeating: nil, count: size)
    shift = UInt32(32 &- size.trailingZeroBitCount)
    for case let stream? in before { place(stream) }
  }
}
