/// How large the parts of a head, or of a trailer section, may be. Exactly the limit is allowed.
public struct HeadLimits: Sendable, Equatable {
  /// Bytes of start line and field lines with all line ends.
  public var maximumBytes = 32_768
  /// Field lines.
  public var maximumFields = 128
  /// Bytes of the request target as it was sent.
  public var maximumTarget = 8_192

  public init(maximumBytes: Int = 32_768, maximumFields: Int = 128, maximumTarget: Int = 8_192) {
    self.maximumBytes = maximumBytes
    self.maximumFields = maximumFields
    self.maximumTarget = maximumTarget
  }

  /// Bytes of a method; the longest registered one has 17.
  static let maximumMethod = 64
  /// Bytes of a field name.
  static let maximumFieldName = 1_024
  /// Elements of all Connection fields of a head.
  static let maximumConnectionOptions = 64
  /// Blank lines before a request line; RFC 9112 section 2.2 asks for at least one.
  static let maximumBlankLines = 2
}
