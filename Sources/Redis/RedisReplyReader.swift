import CHiredis

/// Reads replies from bytes as they come.
///
/// hiredis parses; what it finds becomes ``RedisValue``s here, within bounds: a server that was taken over, or something
/// else that answers at its port, cannot make the gateway hold more than these.
@safe
package final class RedisReplyReader {
  /// What one reply may take.
  package struct Limits: Sendable {
    /// Bytes on the wire.
    package var bytes = 1 << 20
    /// Values, those inside of arrays too.
    package var values = 65_536

    package init() {}
  }

  // Owned.
  private let reader: UnsafeMutablePointer<redisReader>?
  private let builder: ReplyBuilder
  private let limits: Limits
  private var fault: RedisFault?

  package init(limits: Limits = Limits()) {
    self.limits = limits
    builder = ReplyBuilder(maximum: limits.values)
    unsafe reader = unsafe redisReaderCreateWithFunctions(ReplyBuilder.functions)
    // The builder lives as long as this object, and so longer than the reader.
    unsafe reader?.pointee.privdata = unsafe Unmanaged.passUnretained(builder).toOpaque()
  }

  deinit {
    if let reader = unsafe reader { unsafe redisReaderFree(reader) }
  }

  /// Takes bytes in; ``next()`` then gives the replies that are whole.
  package func feed(_ bytes: Span<UInt8>) throws(RedisFault) {
    if let fault { throw fault }
    guard let reader = unsafe reader else { throw fail(.protocol, "no memory") }
    let unread = unsafe reader.pointee.len - reader.pointee.pos
    guard unread + bytes.count <= limits.bytes else {
      throw fail(.tooLarge, "a reply is larger than \(limits.bytes) bytes")
    }
    let status = unsafe bytes.withUnsafeBytes { bytes in
      unsafe redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    if status != REDIS_OK { throw unsafe broken(reader) }
  }

  /// The next reply that is whole; nil: more bytes are needed.
  package func next() throws(RedisFault) -> RedisValue? {
    if let fault { throw fault }
    guard let reader = unsafe reader else { throw fail(.protocol, "no memory") }
    var reply: UnsafeMutableRawPointer?
    let status = unsafe redisReaderGetReply(reader, &reply)
    if status != REDIS_OK { throw unsafe broken(reader) }
    guard let reply = unsafe reply else { return nil }
    builder.count = 0
    return unsafe Unmanaged<ReplyNode>.fromOpaque(reply).takeRetainedValue().value
  }

  private func broken(_ reader: UnsafeMutablePointer<redisReader>) -> RedisFault {
    if builder.isFull { return fail(.tooLarge, "a reply has more than \(limits.values) values") }
    let text = unsafe withUnsafeBytes(of: reader.pointee.errstr) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return fail(.protocol, "not a Redis reply: \(text)")
  }

  private func fail(_ kind: RedisFault.Kind, _ reason: String) -> RedisFault {
    let fault = RedisFault(kind, reason)
    self.fault = fault
    return fault
  }
}

/// Makes the objects that hiredis asks for while it reads.
private final class ReplyBuilder {
  private let maximum: Int
  /// Values of the present reply so far.
  var count = 0
  private(set) var isFull = false

  init(maximum: Int) { self.maximum = maximum }

  // Written once, before anybody reads it, and never changed: hiredis takes the table by a pointer that may be written
  // through and only reads it.
  nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
    let table = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    unsafe table.initialize(
      to: redisReplyObjectFunctions(
        createString: { task, text, length in
          unsafe ReplyBuilder.add(task, room: 0) { type in
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: length)
            return switch type {
            case REDIS_REPLY_STATUS: unsafe .status(String(decoding: bytes, as: UTF8.self))
            case REDIS_REPLY_ERROR: unsafe .error(String(decoding: bytes, as: UTF8.self))
            default: unsafe .bulk(Array(bytes))
            }
          }
        },
        createArray: { task, count in
          unsafe ReplyBuilder.add(task, room: Int(count)) { _ in .array([]) }
        },
        createInteger: { task, number in
          unsafe ReplyBuilder.add(task, room: 0) { _ in .integer(number) }
        },
        createNil: { task in
          unsafe ReplyBuilder.add(task, room: 0) { _ in .null }
        },
        freeObject: { object in
          guard let object = unsafe object else { return }
          unsafe Unmanaged<ReplyNode>.fromOpaque(object).release()
        }))
    return unsafe table
  }()

  /// Makes one value and hangs it under its array; an array holds what is in it, the reader only the outermost.
  ///
  /// - Parameter room: how many values the array says will follow.
  /// - Returns: nil, with which hiredis ends, when that is too much.
  private static func add(
    _ task: UnsafePointer<redisReadTask>?, room: Int, _ make: (CInt) -> RedisValue
  ) -> UnsafeMutableRawPointer? {
    guard let task = unsafe task?.pointee, let data = unsafe task.privdata else { return nil }
    let builder = unsafe Unmanaged<ReplyBuilder>.fromOpaque(data).takeUnretainedValue()
    guard room >= 0, room < builder.maximum, builder.count < builder.maximum - room else {
      builder.isFull = true
      return nil
    }
    builder.count += 1
    let node = unsafe ReplyNode(make(task.type))
    guard let parent = unsafe task.parent?.pointee.obj else { return unsafe Unmanaged.passRetained(node).toOpaque() }
    unsafe Unmanaged<ReplyNode>.fromOpaque(parent).takeUnretainedValue().elements.append(node)
    return unsafe Unmanaged.passUnretained(node).toOpaque()
  }
}

/// A value while its reply is read.
private final class ReplyNode {
  private let own: RedisValue
  var elements: [ReplyNode] = []

  init(_ value: RedisValue) { own = value }

  var value: RedisValue {
    if case .array = own { .array(elements.map(\.value)) } else { own }
  }
}
