/// Bytes that wait, in pieces of a store's memory: growing copies nothing that is there already, and what is taken out
/// gives its memory back at once. An empty queue holds none.
@safe
public struct ByteQueue: ~Copyable {
  /// Bytes that wait.
  public private(set) var count = 0
  /// Where bytes are taken.
  private var front = ByteBuffer()
  /// Between front and back; seldom any.
  private var middle: [Piece] = []
  /// Where bytes are put once the front has no room; without memory while the front has.
  private var back = ByteBuffer()

  /// A buffer in an array, which holds no noncopyable values.
  @safe
  private struct Piece {
    let base: UnsafeMutablePointer<UInt8>
    let capacity: Int
    let head: Int
    let tail: Int

    /// The buffer again, once.
    func makeBuffer() -> ByteBuffer { unsafe ByteBuffer(owning: base, capacity: capacity, head: head, tail: tail) }
  }

  public init() {}

  deinit {
    for piece in middle { unsafe ByteBuffer.free(piece.base) }
  }

  public var isEmpty: Bool { count == 0 }

  /// Bytes of memory held.
  public var capacity: Int { middle.reduce(front.capacity + back.capacity) { $0 + $1.capacity } }

  // MARK: In

  public mutating func append(_ bytes: Span<UInt8>, from store: BufferStore) {
    var at = 0
    while at < bytes.count {
      if front.capacity == 0 { front = store.take(for: bytes.count) }
      let rest = bytes.count - at
      if back.capacity == 0 {
        at += Self.fill(&front, with: bytes, at)
        if at < bytes.count { back = store.take(for: rest) }
      } else {
        at += Self.fill(&back, with: bytes, at)
        if at < bytes.count { pushBack(store.take(for: rest)) }
      }
    }
    count += bytes.count
  }

  /// Appends the first `length` bytes of a buffer and consumes them. All of a buffer that is well filled are moved and
  /// not copied, their memory with them.
  public mutating func append(_ buffer: inout ByteBuffer, _ length: Int, from store: BufferStore) {
    guard length == buffer.count, length > BufferStore.smallCapacity, length >= buffer.capacity / 4,
      buffer.capacity > 0
    else {
      append(buffer.span.extracting(0..<length), from: store)
      buffer.consume(length)
      return
    }
    var taken = ByteBuffer()
    swap(&taken, &buffer)
    count += length
    if front.capacity == 0 {
      front = taken
    } else if back.capacity == 0 {
      back = taken
    } else {
      pushBack(taken)
    }
  }

  /// Copies what fits behind what is there, and says how much that was.
  private static func fill(_ buffer: inout ByteBuffer, with bytes: Span<UInt8>, _ start: Int) -> Int {
    let taken = min(buffer.room, bytes.count - start)
    buffer.append(bytes.extracting(start..<start + taken))
    return taken
  }

  private mutating func pushBack(_ buffer: consuming ByteBuffer) {
    var old = buffer
    swap(&old, &back)
    let (head, tail) = (old.head, old.tail)
    guard let memory = unsafe old.release() else { return }
    middle.append(unsafe Piece(base: memory.base, capacity: memory.capacity, head: head, tail: tail))
  }

  // MARK: Out

  /// Moves the first `length` bytes behind those of a buffer; there have to be as many.
  public mutating func move(_ length: Int, to target: inout ByteBuffer, givingTo store: BufferStore) {
    precondition(length <= count, "more bytes moved than there are")
    count -= length
    var rest = length
    while rest > 0 {
      let taken = min(rest, front.count)
      target.append(front, 0..<taken)
      front.consume(taken)
      rest -= taken
      if front.isEmpty { shift(store) }
    }
  }

  /// The first bytes with their memory; empty when there are none.
  public mutating func popFirst() -> ByteBuffer {
    var taken = takeNext()
    swap(&taken, &front)
    count -= taken.count
    return taken
  }

  /// Calls the body with the first piece: what it consumes is out of the queue. There has to be one.
  public mutating func takeFirst<R>(givingTo store: BufferStore, _ body: (inout ByteBuffer) -> R) -> R {
    let before = front.count
    let result = body(&front)
    count -= before - front.count
    if front.isEmpty { shift(store) }
    return result
  }

  /// Drops all bytes.
  public mutating func removeAll(givingTo store: BufferStore) {
    while front.capacity > 0 { shift(store) }
    count = 0
  }

  /// The front is used up: the next piece takes its place.
  private mutating func shift(_ store: BufferStore) {
    var old = takeNext()
    swap(&old, &front)
    store.give(old)
  }

  private mutating func takeNext() -> ByteBuffer {
    guard middle.isEmpty else { return middle.remove(at: 0).makeBuffer() }
    var next = ByteBuffer()
    swap(&next, &back)
    return next
  }
}
