extension ArgumentScanner {
  /// The options of commands that ask a running gateway.
  static let adminOptions: [Option] = [.init(name: "--admin"), .init(name: "--ca")]

  /// The address of `--admin`, else the usual one, with the file of `--ca`.
  func admin() throws(UsageError) -> AdminURL {
    var admin = AdminURL.standard
    if let url = value("--admin") {
      guard let read = AdminURL(url) else {
        throw error("--admin \"\(url)\" is not an admin URL; write it like \(AdminURL.standard.text)")
      }
      admin = read
    }
    admin.authorities = value("--ca")
    if admin.authorities != nil, !admin.isSecure {
      throw error("--ca is for an admin URL with https; write --admin https://HOST:PORT")
    }
    return admin
  }
}
