import Bytes
import EventLoops
import TransportSecurity

/// The rules that keep strangers and web pages from changing the gateway.
///
/// A page in an operator's browser can send requests to loopback. It cannot set Content-Type to JSON without a preflight
/// that nobody answers, cannot hide its Origin, and after rebinding its name to 127.0.0.1 still sends its own Host.
struct AdminGuard {
  let token: String?

  /// Why a changing request is refused; nil when it may go on.
  func refusalOfChange(_ request: LocalRequest) -> LocalResponse? {
    guard Self.isOwn(request.authority, request) else {
      return .failure(403, "the Host must be that of the admin address, \(request.listener.text)")
    }
    for field in request.fields where field.name == "origin" {
      guard Self.isOwnOrigin(field.value, request) else {
        return .failure(403, "requests from pages of another origin are refused")
      }
    }
    if let refusal = refusalWithoutToken(request) { return refusal }
    guard request.hasContentType("application/json") else {
      return .failure(415, "the Content-Type must be application/json")
    }
    return nil
  }

  /// Why a read is refused: on loopback reads are open, but to a web page that has rebound its name to this address. To a
  /// browser this is the page's own server, so that it could read all.
  func refusalOfRead(_ request: LocalRequest) -> LocalResponse? {
    guard request.listener.isLoopback else { return refusalWithoutToken(request) }
    guard Self.isPublicName(request.authority), !showsToken(request), !Self.isOwn(request.authority, request) else {
      return nil
    }
    let cure = token == nil ? "" : ", or show the admin token"
    return .failure(403, "the Host is a name that a web page may have: use \(request.listener.text)\(cure)")
  }

  private func showsToken(_ request: LocalRequest) -> Bool {
    guard let token, let credentials = Self.bearer(request.field("authorization")) else { return false }
    return SecretComparison.equal(Array(credentials.utf8).span, Array(token.utf8).span)
  }

  private func refusalWithoutToken(_ request: LocalRequest) -> LocalResponse? {
    guard token != nil, !showsToken(request) else { return nil }
    var response = LocalResponse.failure(401, "the admin token is missing or wrong: Authorization: Bearer TOKEN")
    response.fields.append(("www-authenticate", "Bearer"))
    return response
  }

  /// The token of `Bearer TOKEN` (RFC 6750 section 2.1); the scheme has no case.
  private static func bearer(_ value: String?) -> String? {
    guard let value, let blank = value.firstIndex(of: " ") else { return nil }
    guard value[..<blank].lowercased() == "bearer" else { return nil }
    return String(value[value.index(after: blank)...].drop { $0 == " " })
  }

  /// Whether an authority names the address that the connection came in on: itself, a loopback name on loopback, a
  /// name without a dot, or over TLS one that the certificate is for.
  ///
  /// A page can only rebind a name that its author owns in the public DNS, and such a name has a dot. Names without
  /// one are those of containers and services: `turnout-admin`. For a name of its own it has no certificate of ours.
  private static func isOwn(_ authority: String, _ request: LocalRequest) -> Bool {
    let listener = request.listener
    guard let (host, port) = split(authority, isSecure: request.isSecure) else { return false }
    if request.certificateNames?.cover(host: Array(host.utf8).span) == true, port == listener.port { return true }
    if host == "localhost" { return listener.isLoopback && port == listener.port }
    if isSingleLabel(host) { return true }
    guard port == listener.port else { return false }
    guard let address = SocketAddress(host: host, port: port) else { return false }
    return address == listener || address.isLoopback && listener.isLoopback
  }

  /// Whether an authority may be a name in the public DNS: it has a dot, and is no address. The last part of such a name
  /// is never a number (RFC 3696 section 2).
  private static func isPublicName(_ authority: String) -> Bool {
    guard !authority.hasPrefix("[") else { return false }
    var host = authority.prefix { $0 != ":" }
    let isQualified = host.last == "."
    if isQualified { host = host.dropLast() }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count > 1, let last = labels.last else { return isQualified }
    if last.isEmpty { return true }
    return last != "localhost" && !last.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isSingleLabel(_ host: String) -> Bool {
    !host.isEmpty
      && host.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): host.utf8.contains { $0 > UInt8(ascii: "9") }
        default: false
        }
      }
  }

  /// Whether a page comes from this listener. A name without a dot may be any page's of the same network, so it has to be
  /// the one that the request itself went to.
  private static func isOwnOrigin(_ origin: String, _ request: LocalRequest) -> Bool {
    let scheme = request.isSecure ? "https://" : "http://"
    let lower = origin.lowercased()
    guard lower.hasPrefix(scheme) else { return false }
    let authority = String(lower.dropFirst(scheme.count))
    if authority == request.authority.lowercased() { return true }
    guard let host = split(authority, isSecure: request.isSecure)?.host else { return false }
    return (host == "localhost" || !isSingleLabel(host)) && isOwn(authority, request)
  }

  /// Host without brackets, and port (that of the scheme when absent).
  private static func split(_ authority: String, isSecure: Bool) -> (host: String, port: UInt16)? {
    let host: Substring
    let rest: Substring
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = authority[authority.index(after: authority.startIndex)..<end]
      rest = authority[authority.index(after: end)...]
    } else {
      host = authority.prefix { $0 != ":" }
      rest = authority.dropFirst(host.count)
    }
    if rest.isEmpty { return (String(host), isSecure ? 443 : 80) }
    guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return nil }
    return (String(host), port)
  }
}
