import Bytes
import HTTPModel

/// Reads a request line (RFC 9112 section 3); keeps its place between calls like ``FieldSectionScanner``.
struct RequestLineScanner {
  private enum Phase {
    case method, target, version, carriageReturn, lineFeed
  }

  private var phase = Phase.method
  private var targetStart = 0
  private var targetEnd = 0
  /// Offset of the first `?`.
  private var question: Int?
  private var version = VersionScanner()
  private(set) var position = 0

  /// True when the line end was read; the head then has method, version and target.
  mutating func scan(
    _ bytes: Span<UInt8>, into head: RequestHead, limits: HeadLimits
  ) throws(HTTP1Error) -> Bool {
    while position < bytes.count {
      switch phase {
      case .method:
        try scanMethod(bytes, into: head)
      case .target:
        try scanTarget(bytes, limits.maximumTarget)
      case .version:
        if version.takeUsual(bytes, at: position) {
          position &+= 8
          phase = .carriageReturn
          continue
        }
        let byte = bytes[position]
        if byte == ByteScan.lineFeed { throw HTTP1Error(.bareLineFeed) }
        try version.take(byte)
        position &+= 1
        if version.isComplete { phase = .carriageReturn }
      case .carriageReturn:
        guard bytes[position] == ByteScan.carriageReturn else {
          throw HTTP1Error(bytes[position] == ByteScan.lineFeed ? .bareLineFeed : .invalidVersion)
        }
        position &+= 1
        phase = .lineFeed
      case .lineFeed:
        guard bytes[position] == ByteScan.lineFeed else { throw HTTP1Error(.bareCarriageReturn) }
        position &+= 1
        try finish(bytes, into: head)
        return true
      }
    }
    return false
  }

  private mutating func scanMethod(_ bytes: Span<UInt8>, into head: RequestHead) throws(HTTP1Error) {
    let end = min(bytes.count, HeadLimits.maximumMethod + 1)
    position = ByteScan.token(bytes.extracting(0..<end), from: position)
    guard position < end else {
      if end > HeadLimits.maximumMethod { throw HTTP1Error(.methodTooLong) }
      return
    }
    guard bytes[position] == ByteScan.blank, position > 0 else {
      throw HTTP1Error(bytes[position] == ByteScan.lineFeed ? .bareLineFeed : .invalidMethod)
    }
    head.method = HTTPMethod(bytes.extracting(0..<position))
    if head.method == .connect { throw HTTP1Error(.connectMethod) }
    position &+= 1
    targetStart = position
    phase = .target
  }

  private mutating func scanTarget(_ bytes: Span<UInt8>, _ limit: Int) throws(HTTP1Error) {
    // As with names, one byte over the limit is looked at: the blank behind the longest target.
    let end = bytes.count &- targetStart > limit ? targetStart &+ limit &+ 1 : bytes.count
    position = ByteScan.target(bytes.extracting(0..<end), from: position)
    guard position < end else {
      if end &- targetStart > limit { throw HTTP1Error(.targetTooLong) }
      return
    }
    switch bytes[position] {
    case UInt8(ascii: "?"):
      // Only a question mark inside the limit goes on.
      if position &- targetStart >= limit { throw HTTP1Error(.targetTooLong) }
      if question == nil { question = position }
      position &+= 1
    case ByteScan.blank:
      guard position > targetStart else { throw HTTP1Error(.invalidTarget) }
      targetEnd = position
      position &+= 1
      phase = .version
    case UInt8(ascii: "#"): throw HTTP1Error(.fragmentInTarget)
    case ByteScan.carriageReturn: throw HTTP1Error(.missingVersion)
    case ByteScan.lineFeed: throw HTTP1Error(.bareLineFeed)
    default: throw HTTP1Error(.invalidTarget)
    }
  }

  private func finish(_ bytes: Span<UInt8>, into head: RequestHead) throws(HTTP1Error) {
    let target = bytes.extracting(targetStart..<targetEnd)
    if version.major == 2, head.method == .other("PRI"), ASCII.equal(target, "*") { throw HTTP1Error(.http2Preface) }
    head.version = try version.version()
    if target[0] == UInt8(ascii: "/") {
      head.target.append(target)
      head.pathEnd = (question ?? targetEnd) &- targetStart
    } else {
      try RequestTarget.read(target, into: head)
    }
  }
}
