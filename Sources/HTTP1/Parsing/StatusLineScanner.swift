import Bytes
import HTTPModel

/// Reads a status line (RFC 9112 section 4); keeps its place between calls like ``FieldSectionScanner``.
struct StatusLineScanner {
  private enum Phase {
    case version, versionEnd, status, statusEnd, reason, lineFeed
  }

  private var phase = Phase.version
  private var version = VersionScanner()
  private var digits = 0
  private var status = 0
  private(set) var position = 0

  /// True when the line end was read; the head then has version and status. The reason phrase is dropped.
  mutating func scan(_ bytes: Span<UInt8>, into head: ResponseHead) throws(HTTP1Error) -> Bool {
    if position == 0 { takeUsual(bytes, into: head) }
    while position < bytes.count {
      let byte = bytes[position]
      if byte == ByteScan.lineFeed, phase != .lineFeed { throw HTTP1Error(.bareLineFeed) }
      switch phase {
      case .version:
        try version.take(byte)
        if version.isComplete { phase = .versionEnd }
      case .versionEnd:
        guard byte == ByteScan.blank else { throw HTTP1Error(.invalidVersion) }
        head.version = try version.version()
        phase = .status
      case .status:
        guard ASCII.isDigit(byte) else { throw HTTP1Error(.invalidStatus) }
        status = status &* 10 &+ Int(byte &- 48)
        digits &+= 1
        if digits == 3 { phase = .statusEnd }
      case .statusEnd:
        // Numbers from 600 on are no statuses, but come from servers, and are taken for 5xx (RFC 9110 section 15).
        guard status >= 100 else { throw HTTP1Error(.invalidStatus) }
        head.status = status
        // Some servers leave out the blank with the reason; nothing is ambiguous about that.
        if byte == ByteScan.carriageReturn {
          phase = .lineFeed
        } else {
          guard byte == ByteScan.blank else { throw HTTP1Error(.invalidStatus) }
          phase = .reason
        }
      case .reason:
        position = ByteScan.value(bytes, from: position)
        guard position < bytes.count else { return false }
        guard bytes[position] == ByteScan.carriageReturn else {
          throw HTTP1Error(bytes[position] == ByteScan.lineFeed ? .bareLineFeed : .invalidReasonPhrase)
        }
        phase = .lineFeed
      case .lineFeed:
        guard byte == ByteScan.lineFeed else { throw HTTP1Error(.bareCarriageReturn) }
        position &+= 1
        return true
      }
      position &+= 1
    }
    return false
  }

  /// Steps over the beginning of nearly every answer, `HTTP/1.1 200`, if it is there as a whole.
  private mutating func takeUsual(_ bytes: Span<UInt8>, into head: ResponseHead) {
    guard bytes.count >= 12, bytes[8] == ByteScan.blank, ASCII.isDigit(bytes[9]), ASCII.isDigit(bytes[10]),
      ASCII.isDigit(bytes[11]), version.takeUsual(bytes, at: 0)
    else { return }
    head.version = .http11
    status = Int(bytes[9] &- 48) &* 100 &+ Int(bytes[10] &- 48) &* 10 &+ Int(bytes[11] &- 48)
    digits = 3
    phase = .statusEnd
    position = 12
  }
}
