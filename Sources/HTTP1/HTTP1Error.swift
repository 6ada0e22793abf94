/// A message that is refused: what is wrong with it and the status that a client gets for it.
///
/// After an error the connection has no known position in its stream and must be closed. For a response the
/// ``status`` has no meaning: the upstream's fault is a 502.
public struct HTTP1Error: Error, Sendable, Equatable {
  public let kind: Kind

  public init(_ kind: Kind) { self.kind = kind }

  /// 400, 414, 431, 501 or 505.
  public var status: Int { kind.facts.status }

  /// One line of English for the log and the answer; holds nothing of the message.
  public var reason: String { "\(kind.facts.reason)" }
}

extension HTTP1Error: CustomStringConvertible {
  public var description: String { "\(kind.name): \(kind.facts.reason)" }
}

extension HTTP1Error {
  /// One case per refused shape.
  public enum Kind: Sendable, CaseIterable {
    // Lines.
    case bareLineFeed
    case bareCarriageReturn
    case tooManyBlankLines
    // Request line.
    case invalidMethod
    case methodTooLong
    case connectMethod
    case missingVersion
    case invalidVersion
    case unsupportedVersion
    case http2Preface
    // Target and authority.
    case invalidTarget
    case fragmentInTarget
    case targetTooLong
    case targetWithoutSlash
    case asteriskTarget
    case missingHost
    case duplicateHost
    case invalidHost
    // Status line.
    case invalidStatus
    case invalidReasonPhrase
    // Fields.
    case headTooLarge
    case tooManyFields
    case fieldNameTooLong
    case whitespaceBeforeFields
    case lineFolding
    case emptyFieldName
    case invalidFieldName
    case whitespaceBeforeColon
    case missingColon
    case invalidFieldValue
    case tooManyConnectionOptions
    // Framing.
    case invalidContentLength
    case differingContentLengths
    case lengthWithTransferEncoding
    case invalidTransferEncoding
    case unsupportedTransferCoding
    case transferEncodingInHTTP10
    // Body.
    case invalidChunkSize
    case chunkSizeTooLarge
    case invalidChunkExtension
    case chunkExtensionTooLong
    case tooMuchChunkOverhead
    case missingChunkEnd
    case truncatedBody

    /// The case's name, for metrics and logs.
    public var name: StaticString { facts.name }
  }
}
