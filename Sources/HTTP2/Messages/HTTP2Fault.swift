/// What a peer did wrong: which shape it was, whether it ends its stream or the connection, and how that is said.
package struct HTTP2Fault: Error, Hashable, Sendable {
  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// How far it reaches.
  package enum Scope: String, Sendable {
    case stream
    case connection
  }

  package var scope: Scope { kind.facts.scope }
  package var code: HTTP2ErrorCode { kind.facts.code }
  /// With what a request is answered instead of a reset; nil: by reset.
  package var status: Int? { kind.facts.status }
  /// One line of English for the log and the answer; holds nothing of the message.
  package var reason: String { "\(kind.facts.reason)" }

  /// One case for each refused shape and for each bound.
  package enum Kind: String, Sendable, CaseIterable {
    // Messages.
    case invalidMethod
    case connectMethod
    case invalidScheme
    case invalidTarget
    case fragmentInTarget
    case targetWithoutSlash
    case asteriskTarget
    case targetTooLong
    case invalidAuthority
    case duplicateHost
    case hostMismatch
    case connectionField
    case invalidTE
    case invalidFieldName
    case invalidFieldValue
    case invalidContentLength
    case lengthMismatch
    case headTooLarge
    case tooManyFields
    case malformedMessage
    // Streams.
    case tooManyStreams
    case closedStream
    case streamFlowControl
    // The connection.
    case malformedFrames
    case frameSize
    case flowControl
    case compression
    // Bounds on what costs more here than there.
    case resetFlood
    case continuationFlood
    case settingsFlood
    case pingFlood
    case emptyFrameFlood
    case windowUpdateFlood
    case acknowledgementFlood
    case headerBomb
  }
}

extension HTTP2Fault.Kind {
  var facts: (scope: HTTP2Fault.Scope, code: HTTP2ErrorCode, status: Int?, reason: StaticString) {
    switch self {
    case .invalidMethod: (.stream, .protocolError, nil, "the method is not a token of usual length")
    case .connectMethod: (.stream, .protocolError, 501, "CONNECT is not served")
    case .invalidScheme: (.stream, .protocolError, nil, "the scheme is neither http nor https")
    case .invalidTarget:
      (.stream, .protocolError, nil, "the path has a blank, a control byte or a byte outside ASCII, or is empty")
    case .fragmentInTarget: (.stream, .protocolError, nil, "the path has a fragment")
    case .targetWithoutSlash: (.stream, .protocolError, nil, "the path has no leading slash")
    case .asteriskTarget: (.stream, .protocolError, nil, "the path * is for OPTIONS only")
    case .targetTooLong: (.stream, .protocolError, 414, "the path is longer than the limit")
    case .invalidAuthority:
      (.stream, .protocolError, nil, "the authority is not a name or address with an optional port")
    case .duplicateHost: (.stream, .protocolError, nil, "there is more than one Host field")
    case .hostMismatch: (.stream, .protocolError, nil, "the Host field differs from the authority")
    case .connectionField: (.stream, .protocolError, nil, "a field is for HTTP/1.1 connections only")
    case .invalidTE: (.stream, .protocolError, nil, "TE has another value than trailers")
    case .invalidFieldName: (.stream, .protocolError, nil, "a field name has a byte that is not allowed")
    case .invalidFieldValue: (.stream, .protocolError, nil, "a field value has a byte that is not allowed")
    case .invalidContentLength: (.stream, .protocolError, nil, "the Content-Length is not one plain decimal number")
    case .lengthMismatch: (.stream, .protocolError, nil, "the body has another length than Content-Length says")
    case .headTooLarge: (.stream, .enhanceYourCalm, 431, "the field section is larger than the limit")
    case .tooManyFields: (.stream, .enhanceYourCalm, 431, "there are more fields than the limit")
    case .malformedMessage: (.stream, .protocolError, nil, "the message breaks the rules of RFC 9113 section 8")
    case .tooManyStreams: (.stream, .refusedStream, nil, "there are more streams than allowed")
    case .closedStream: (.stream, .streamClosed, nil, "a frame came for a stream that is closed")
    case .streamFlowControl: (.stream, .flowControlError, nil, "a stream's window was exceeded")
    case .malformedFrames: (.connection, .protocolError, nil, "the frames break the rules of RFC 9113")
    case .frameSize: (.connection, .frameSizeError, nil, "a frame has a wrong size")
    case .flowControl: (.connection, .flowControlError, nil, "the connection's window was exceeded")
    case .compression: (.connection, .compressionError, nil, "a field section cannot be decompressed")
    case .resetFlood: (.connection, .enhanceYourCalm, nil, "too many streams were reset")
    case .continuationFlood: (.connection, .enhanceYourCalm, nil, "a field section has too many CONTINUATION frames")
    case .settingsFlood: (.connection, .enhanceYourCalm, nil, "too many SETTINGS frames")
    case .pingFlood: (.connection, .enhanceYourCalm, nil, "too many PING frames")
    case .emptyFrameFlood: (.connection, .enhanceYourCalm, nil, "too many frames that carry nothing")
    case .windowUpdateFlood: (.connection, .enhanceYourCalm, nil, "too many WINDOW_UPDATE frames")
    case .acknowledgementFlood: (.connection, .enhanceYourCalm, nil, "too many answers to frames are not taken")
    case .headerBomb: (.connection, .enhanceYourCalm, nil, "a field section is many times larger than the limit")
    }
  }
}
