/// Watches the envelopes of a stream that passes untouched for one that is too long. It keeps no byte of them.
///
/// A length counts as it is sent: that of a compressed message is its compressed one.
public struct EnvelopeMeter {
  private let limit: Int
  /// The flag of what ends an answer, which is no message; 0: none has it.
  private let endFlag: UInt8
  /// Bytes of the head that is being read.
  private var headCount = 0
  private var flags: UInt8 = 0
  private var length: UInt32 = 0
  /// Of the present message.
  private var remaining = 0

  /// - Parameters:
  ///   - limit: bytes of a message, without its head.
  ///   - dialect: says how an answer's end is told from a message: it may be ``EnvelopeReader/maximumEnd`` bytes long.
  public init(limit: Int, dialect: EnvelopeDialect) {
    self.limit = limit
    endFlag = dialect.endFlag
  }

  /// Takes note of the next bytes; false when a message that begins in them is too long.
  public mutating func observe(_ bytes: Span<UInt8>) -> Bool {
    var at = 0
    while at < bytes.count {
      if remaining > 0 {
        let taken = min(remaining, bytes.count - at)
        remaining -= taken
        at += taken
        continue
      }
      // The flags, then a length in network order.
      if headCount > 0 { length = length << 8 | UInt32(bytes[at]) } else { flags = bytes[at] }
      headCount += 1
      at += 1
      guard headCount == EnvelopeHead.size else { continue }
      let bound = flags & endFlag == 0 ? limit : max(limit, EnvelopeReader.maximumEnd)
      guard Int(length) <= bound else { return false }
      remaining = Int(length)
      (headCount, length) = (0, 0)
    }
    return true
  }
}
