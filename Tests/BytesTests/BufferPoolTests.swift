import Bytes
import Testing

@Suite("Buffer pool")
struct BufferPoolTests {
  @Test("buffers come back empty, last in first out, with their memory")
  func reuse() {
    var pool = BufferPool(bufferCapacity: 1_000, limit: 2)
    var buffer = pool.take()
    #expect(buffer.capacity >= 1_000)
    buffer.append([UInt8](repeating: 1, count: 1_500))
    let capacity = buffer.capacity
    pool.give(buffer)
    let again = pool.take()
    #expect(again.capacity == capacity)
    #expect(again.count == 0)
    let fresh = pool.take()
    #expect(fresh.capacity == 1_000)
  }

  @Test("buffers that have grown past twice the size, or hold too little, are not kept")
  func sizes() {
    var pool = BufferPool(bufferCapacity: 1_000, limit: 2)
    pool.give(ByteBuffer(minimumCapacity: 5_000))
    pool.give(ByteBuffer())
    let buffer = pool.take()
    #expect(buffer.capacity == 1_000)
  }

  @Test("no more than the limit are kept")
  func limit() {
    var pool = BufferPool(bufferCapacity: 1_000, limit: 1)
    pool.give(ByteBuffer(minimumCapacity: 1_100))
    pool.give(ByteBuffer(minimumCapacity: 1_200))
    let first = pool.take()
    let second = pool.take()
    #expect(first.capacity == 1_100)
    #expect(second.capacity == 1_000)
  }
}
