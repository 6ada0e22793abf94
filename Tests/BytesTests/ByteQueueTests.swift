import Bytes
import Testing

/// What waits in pieces comes out as it went in, and no memory is left.
@Suite("Byte queue")
struct ByteQueueTests {
  private static func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 + start) &* 31 >> 3) }
  }

  @Test("bytes come out in order, however they are cut", arguments: [1, 7, 4_096, 5_000, 65_536, 70_001])
  func order(_ piece: Int) {
    let store = BufferStore()
    var queue = ByteQueue()
    var put = 0
    var got: [UInt8] = []
    for round in 0..<12 {
      let bytes = Self.pattern(piece, from: put)
      queue.append(bytes.span, from: store)
      put += piece
      var target = ByteBuffer()
      queue.move(min(queue.count, piece * round / 12), to: &target, givingTo: store)
      got += target.bytes
    }
    while !queue.isEmpty { got += queue.popFirst().bytes }
    #expect(got == Self.pattern(put))
    #expect(queue.count == 0)
  }

  @Test("a well filled buffer is moved with its memory, a little of one is copied")
  func moving() {
    let store = BufferStore()
    var queue = ByteQueue()
    var full = ByteBuffer(Self.pattern(60_000))
    let capacity = full.capacity
    queue.append(&full, full.count, from: store)
    #expect(full.capacity == 0)
    #expect(queue.capacity == capacity)
    var little = ByteBuffer(Self.pattern(100, from: 60_000))
    queue.append(&little, 100, from: store)
    #expect(little.count == 0)
    #expect(little.capacity > 0)
    var part = ByteBuffer(Self.pattern(60_000, from: 60_100))
    queue.append(&part, 50_000, from: store)
    #expect(part.count == 10_000)
    queue.append(&part, 10_000, from: store)
    var target = ByteBuffer()
    queue.move(queue.count, to: &target, givingTo: store)
    #expect(target.bytes == Self.pattern(120_100))
  }

  @Test("what is taken out gives its memory back")
  func memory() {
    let store = BufferStore()
    var queue = ByteQueue()
    for _ in 0..<5 { queue.append(Self.pattern(60_000).span, from: store) }
    var target = ByteBuffer()
    queue.move(queue.count, to: &target, givingTo: store)
    #expect(queue.capacity == 0)
    queue.append(Self.pattern(300_000).span, from: store)
    queue.removeAll(givingTo: store)
    #expect(queue.count == 0)
    #expect(queue.capacity == 0)
    queue.append(Self.pattern(200_000).span, from: store)
  }

  @Test("a small buffer is kept for what is small")
  func sizes() {
    let store = BufferStore()
    #expect(store.take(for: 100).capacity == BufferStore.smallCapacity)
    #expect(store.take(for: 5_000).capacity == 65_536)
    #expect(store.takeBulk().capacity == BufferStore.bulkCapacity)
  }
}

/// Bytes in another's memory.
@Suite("Lent bytes")
struct LentBytesTests {
  private static let bytes = [UInt8](0..<200)

  private func lending(_ body: (inout ByteBuffer) -> Void) {
    unsafe Self.bytes.withUnsafeBytes { bytes in unsafe ByteBuffer.lending(bytes, body) }
  }

  @Test("who takes them copies them")
  func taking() {
    var target = ByteBuffer()
    lending {
      #expect($0.capacity == 0)
      #expect($0.count == 200)
      target.take(from: &$0)
      #expect($0.count == 0)
    }
    #expect(target.capacity >= 200)
    #expect(target.bytes == Self.bytes)
  }

  @Test("who appends to them has a copy")
  func appending() {
    lending {
      $0.consume(1)
      $0.append(7)
      #expect($0.capacity >= 200)
      #expect($0.bytes == Self.bytes[1...] + [7])
    }
    lending {
      $0.appendWithUnsafeRoom(1) { room in
        #expect(room.count > 0)
        return 0
      }
      #expect($0.bytes == Self.bytes)
    }
    lending {
      $0.openGap(at: 2, width: 3)
      #expect($0.count == 203)
    }
    #expect(Self.bytes == [UInt8](0..<200))
  }

  @Test("a queue copies them")
  func queueing() {
    let store = BufferStore()
    var queue = ByteQueue()
    lending { queue.append(&$0, 150, from: store) }
    #expect(queue.count == 150)
    #expect(queue.popFirst().bytes == [UInt8](0..<150))
  }

  @Test("their memory is nobody's to keep")
  func keeping() {
    let store = BufferStore()
    lending { store.discard(&$0) }
    var pool = BufferPool(bufferCapacity: 10, limit: 1)
    pool.give(ByteBuffer())
    #expect(pool.take().capacity >= 10)
  }
}
