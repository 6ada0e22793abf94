extension Sections {
  static let clientCertificate = Section<ClientCertificateKey>("a check of client certificates")
}

enum ClientCertificateKey: String, SectionKey {
  case required, allow, forward
}
