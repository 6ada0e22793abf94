/// What outlives a process and is shared by several.
extension Sections {
  static let redis = Section<RedisKey>(
    "a Redis server",
    hints: [
      "host": .misplaced("write `address: host:port`"), "url": .misplaced("write `address: host:port`"),
      "db": .misplaced("write `database:`"),
    ], shorthand: .address)
  static let redisTLS = Section<UpstreamTLSKey>("the TLS of a Redis server", hints: verifyingHints)
  static let state = Section<StateKey>("the state", shorthand: .file)
  static let audit = Section<AuditKey>("the audit log", shorthand: .path)
}

enum RedisKey: String, SectionKey {
  case address, username, password, database, tls, timeout, prefix
}

enum StateKey: String, SectionKey {
  case file, redis
}

enum AuditKey: String, SectionKey {
  case path
}
