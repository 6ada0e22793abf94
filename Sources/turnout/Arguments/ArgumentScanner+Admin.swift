extension ArgumentScanner {
  /// The options of commands that ask a running gateway.
  static let adminOptions: [Option] = [.init(name: "--admin"), .init(name: "--ca")]

  /// `--admin URL` and `--ca FILE`.
  func admin() throws(UsageError) -> (endpoint: AdminURL, authorities: String?) {
    var endpoint = AdminURL.standard
    if let url = value("--admin") {
      guard let read = AdminURL(url) else {
        throw error("--admin \"\(url)\" is not an admin URL; write it like \(AdminURL.standard.text)")
      }
      endpoint = read
    }
    let authorities = value("--ca")
    if authorities != nil, !endpoint.isSecure {
      throw error("--ca is for an admin URL with https; write --admin https://HOST:PORT")
    }
    return (endpoint, authorities)
  }
}
