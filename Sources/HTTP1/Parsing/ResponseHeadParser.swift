public import Bytes
public import HTTPModel

/// Reads response heads (RFC 9112 sections 4 and 5) as their bytes come in; the counterpart of ``RequestHeadParser``.
///
/// Interim responses are heads like others: the caller parses on until one is final.
public struct ResponseHeadParser {
  private let limits: HeadLimits
  private var line = StatusLineScanner()
  private var section: FieldSectionScanner?
  private var failure: HTTP1Error?

  /// Whether some bytes of a head were seen.
  public private(set) var hasBegun = false

  public init(limits: HeadLimits) { self.limits = limits }

  /// Reads what is new; see ``RequestHeadParser/parse(_:into:)``.
  public mutating func parse(_ input: inout ByteBuffer, into head: ResponseHead) throws(HTTP1Error) -> Bool {
    if let failure { throw failure }
    guard !input.isEmpty else { return false }
    do throws(HTTP1Error) {
      if !hasBegun {
        hasBegun = true
        head.removeAll()
      }
      guard let length = try scan(input.span, into: head) else { return false }
      try HeadRules.checkConnection(head.fields)
      input.consume(length)
    } catch {
      failure = error
      throw error
    }
    self = ResponseHeadParser(limits: limits)
    return true
  }

  private mutating func scan(_ input: Span<UInt8>, into head: ResponseHead) throws(HTTP1Error) -> Int? {
    let bytes = input.extracting(first: limits.maximumBytes)
    let isFull = bytes.count == limits.maximumBytes
    if section == nil {
      guard try line.scan(bytes, into: head) else {
        if isFull { throw HTTP1Error(.headTooLarge) }
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
