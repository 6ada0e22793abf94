extension Sections {
  static let externalAuth = Section<ExternalAuthKey>(
    "an external check",
    hints: [
      "headers": .misplaced("write `forward_request_headers`, `upstream_headers` or `client_headers`"),
      "failure_mode": .misplaced("write `on_failure: deny` or `allow`"),
    ])
}

enum ExternalAuthKey: String, SectionKey {
  case url, method, timeout, cache, tls
  case forwardRequestHeaders = "forward_request_headers"
  case upstreamHeaders = "upstream_headers"
  case clientHeaders = "client_headers"
  case onFailure = "on_failure"
}
