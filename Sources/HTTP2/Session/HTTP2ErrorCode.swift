/// Why a stream was reset or a connection was ended (RFC 9113 section 7). Unknown codes are kept as they are.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let noError = HTTP2ErrorCode(rawValue: 0)
  package static let protocolError = HTTP2ErrorCode(rawValue: 1)
  package static let internalError = HTTP2ErrorCode(rawValue: 2)
  package static let flowControlError = HTTP2ErrorCode(rawValue: 3)
  package static let settingsTimeout = HTTP2ErrorCode(rawValue: 4)
  package static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  package static let frameSizeError = HTTP2ErrorCode(rawValue: 6)
  package static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  package static let cancel = HTTP2ErrorCode(rawValue: 8)
  package static let compressionError = HTTP2ErrorCode(rawValue: 9)
  package static let connectError = HTTP2ErrorCode(rawValue: 10)
  package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
  package static let inadequateSecurity = HTTP2ErrorCode(rawValue: 12)
  package static let http11Required = HTTP2ErrorCode(rawValue: 13)

  /// As RFC 9113 spells it; `UNKNOWN` for what it does not name.
  package var name: StaticString {
    switch rawValue {
    case 0: "NO_ERROR"
    case 1: "PROTOCOL_ERROR"
    case 2: "INTERNAL_ERROR"
    case 3: "FLOW_CONTROL_ERROR"
    case 4: "SETTINGS_TIMEOUT"
    case 5: "STREAM_CLOSED"
    case 6: "FRAME_SIZE_ERROR"
    case 7: "REFUSED_STREAM"
    case 8: "CANCEL"
    case 9: "COMPRESSION_ERROR"
    case 10: "CONNECT_ERROR"
    case 11: "ENHANCE_YOUR_CALM"
    case 12: "INADEQUATE_SECURITY"
    case 13: "HTTP_1_1_REQUIRED"
    default: "UNKNOWN"
    }
  }
}
