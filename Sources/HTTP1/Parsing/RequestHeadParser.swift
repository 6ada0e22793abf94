public import Bytes
public import HTTPModel

/// Reads request heads (RFC 9112 sections 2 to 5) as their bytes come in.
///
/// A byte that was looked at is not looked at again: the parser keeps its place, so the caller must leave the unread
/// bytes as they are until the head is complete. One parser reads all requests of a connection. After an error it is of
/// no more use: it gives the same error again.
public struct RequestHeadParser {
  private let limits: HeadLimits
  private var blankLines = 0
  private var line = RequestLineScanner()
  private var section: FieldSectionScanner?
  private var failure: HTTP1Error?

  /// Whether some bytes of a head were seen; the blank lines that may come before it do not count.
  public private(set) var hasBegun = false

  public init(limits: HeadLimits) { self.limits = limits }

  /// Reads what is new.
  ///
  /// - Returns: true when the head is complete: it is then filled and its bytes are consumed. False when more is needed:
  ///   the input is untouched, but for blank lines before the request line, and the head half filled.
  public mutating func parse(_ input: inout ByteBuffer, into head: RequestHead) throws(HTTP1Error) -> Bool {
    if let failure { throw failure }
    do throws(HTTP1Error) {
      if !hasBegun {
        try skipBlankLines(&input)
        guard input.count > 0, input[0] != ByteScan.carriageReturn else { return false }
        hasBegun = true
        head.removeAll()
      }
      guard let length = try scan(input.span, into: head) else { return false }
      try HeadRules.check(head)
      input.consume(length)
    } catch {
      failure = error
      throw error
    }
    self = RequestHeadParser(limits: limits)
    return true
  }

  /// Takes the line ends that some clients send behind a body (RFC 9112 section 2.2).
  private mutating func skipBlankLines(_ input: inout ByteBuffer) throws(HTTP1Error) {
    while input.count > 0 {
      if input[0] == ByteScan.lineFeed { throw HTTP1Error(.bareLineFeed) }
      guard input[0] == ByteScan.carriageReturn else { return }
      guard blankLines < HeadLimits.maximumBlankLines else { throw HTTP1Error(.tooManyBlankLines) }
      guard input.count > 1 else { return }
      guard input[1] == ByteScan.lineFeed else { throw HTTP1Error(.bareCarriageReturn) }
      input.consume(2)
      blankLines += 1
    }
  }

  /// The length of the head, or nil while it is incomplete.
  private mutating func scan(_ input: Span<UInt8>, into head: RequestHead) throws(HTTP1Error) -> Int? {
    // What lies behind the limit is not looked at, so a head over the limit fails alike in one piece and in many.
    let bytes = input.extracting(first: limits.maximumBytes)
    let isFull = bytes.count == limits.maximumBytes
    if section == nil {
      guard try line.scan(bytes, into: head, limits: limits) else {
        if isFull { throw HTTP1Error(.targetTooLong) }
        return nil
      }
      section = FieldSectionScanner(position: line.position)
    }
    guard try section?.scan(bytes, into: head.fields, maximumFields: limits.maximumFields) == true else {
      if isFull { throw HTTP1Error(.headTooLarge) }
      return nil
    }
    return section?.position
  }
}
