import Bytes
import HTTPModel

/// Reads field sections into heads and checks what must hold for a message that may go on as HTTP/1.1.
///
/// The library has checked the order of pseudo fields, their presence, and that names are in lower case; what could be
/// read in two ways by somebody behind is checked here, whatever the library does.
extension HTTP2Stream {
  func take(_ name: Span<UInt8>, _ value: Span<UInt8>, maximumTarget: Int) {
    guard !name.isEmpty else { return fault = .invalidFieldName }
    if name[0] == UInt8(ascii: ":") {
      switch section {
      case .request: takeRequestPseudoField(name, value, maximumTarget)
      case .response: takeStatus(name, value)
      case .trailers: fault = .malformedMessage
      }
      return
    }
    guard Self.isLowerCaseToken(name) else { return fault = .invalidFieldName }
    guard FieldSyntax.isValue(value), !Self.isPadded(value) else { return fault = .invalidFieldValue }
    let known = FieldName(name)
    switch known {
    case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .http2Settings:
      fault = .connectionField
    case .te where section == .request:
      if !ASCII.equalIgnoringCase(value, "trailers") { fault = .invalidTE } else { fields.append(.te, value) }
    case .contentLength where section != .trailers: takeContentLength(value)
    case .host where section == .request:
      if fields.contains(.host) { fault = .duplicateHost } else { fields.append(.host, value) }
    case .cookie where section == .request:
      // RFC 9113 section 8.2.3: HTTP/1.1 knows one cookie field only.
      if !cookies.isEmpty { cookies.append("; ") }
      cookies.append(value)
    default: fields.append(name, as: known, value)
    }
  }

  private var fields: FieldBlock {
    switch section {
    case .request: request.fields
    case .response: response.fields
    case .trailers: trailers
    }
  }

  /// What can be told only when the section is whole.
  func finishSection() {
    guard fault == nil else { return }
    switch section {
    case .request: finishRequest()
    case .response: hasFinalHead = !response.isInformational
    case .trailers: TrailerFields.removeForbidden(from: trailers)
    }
  }

  private func finishRequest() {
    let request = request
    if !cookies.isEmpty {
      cookies.withSpan { request.fields.append(.cookie, $0) }
      cookies.releaseStorage()
    }
    guard !request.target.isEmpty else { return fault = .invalidTarget }
    if request.target[0] != UInt8(ascii: "/"), request.method != .options { return fault = .asteriskTarget }
    if let host = request.fields.firstIndex(of: .host) {
      request.fields.withValue(at: host) { checkHost($0, request) }
    } else if request.authority.isEmpty {
      fault = .invalidAuthority
    }
  }

  private func checkHost(_ value: Span<UInt8>, _ request: RequestHead) {
    if request.authority.isEmpty {
      if !Authority.append(value, to: &request.authority) { fault = .invalidAuthority }
      return
    }
    var named = ByteBuffer()
    guard Authority.append(value, to: &named) else { return fault = .invalidAuthority }
    let agree = request.authority.withSpan { authority in ASCII.equal(authority, named.span) }
    if !agree { fault = .hostMismatch }
  }

  // MARK: Pseudo fields

  private func takeRequestPseudoField(_ name: Span<UInt8>, _ value: Span<UInt8>, _ maximumTarget: Int) {
    let request = request
    if name.count == 7, ASCII.equal(name, ":method") {
      guard value.count <= Self.maximumMethod, FieldSyntax.isToken(value) else { return fault = .invalidMethod }
      request.method = HTTPMethod(value)
      if request.method == .connect { fault = .connectMethod }
    } else if name.count == 5, ASCII.equal(name, ":path") {
      takeTarget(value, request, maximumTarget)
    } else if name.count == 10, ASCII.equal(name, ":authority") {
      if !Authority.append(value, to: &request.authority) { fault = .invalidAuthority }
    } else if ASCII.equal(name, ":scheme") {
      if !ASCII.equalIgnoringCase(value, "http"), !ASCII.equalIgnoringCase(value, "https") { fault = .invalidScheme }
    } else {
      // `:protocol` too: extended CONNECT (RFC 8441) is not offered.
      fault = .malformedMessage
    }
  }

  private static let maximumMethod = 32

  private func takeTarget(_ value: Span<UInt8>, _ request: RequestHead, _ maximumTarget: Int) {
    guard value.count <= maximumTarget else { return fault = .targetTooLong }
    guard !value.isEmpty, request.target.isEmpty else { return fault = .invalidTarget }
    if value[0] != UInt8(ascii: "/"), !ASCII.equal(value, "*") { return fault = .targetWithoutSlash }
    var end = value.count
    for index in value.indices {
      let byte = value[index]
      // Nearly every byte.
      if byte > UInt8(ascii: "#"), byte < 0x7F, byte != UInt8(ascii: "?") { continue }
      if byte == UInt8(ascii: "#") { return fault = .fragmentInTarget }
      if byte <= 0x20 || byte >= 0x7F { return fault = .invalidTarget }
      if byte == UInt8(ascii: "?"), end == value.count { end = index }
    }
    request.target.append(value)
    request.pathEnd = end
  }

  private func takeStatus(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    // Numbers from 600 on are no statuses, but come from servers, and are taken for 5xx (RFC 9110 section 15).
    guard ASCII.equal(name, ":status"), value.count == 3, let status = ASCII.decimal(value), status >= 100,
      status != 101
    else { return fault = .malformedMessage }
    response.status = status
    response.version = .http2
  }

  // MARK: Fields

  /// One length, without sign and leading zeros, which others read in other ways.
  private func takeContentLength(_ value: Span<UInt8>) {
    guard announcedLength == nil, let number = ASCII.decimal(value), value.count == 1 || value[0] != UInt8(ascii: "0")
    else { return fault = .invalidContentLength }
    announcedLength = number
  }

  static func isLowerCaseToken(_ name: Span<UInt8>) -> Bool {
    if name.isEmpty { return false }
    for index in name.indices where !FieldSyntax.isLowerCaseTokenByte(name[index]) { return false }
    return true
  }

  private static func isPadded(_ value: Span<UInt8>) -> Bool {
    guard !value.isEmpty else { return false }
    let first = value[0]
    let last = value[value.count &- 1]
    return first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09
  }
}
