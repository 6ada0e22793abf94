/// All that a configuration file can say.
enum Sections {
  static let root = Section<RootKey>("the configuration", hints: interceptorHints)
  static let listener = Section<ListenerKey>("a listener", shorthand: .address)
  static let listenerTLS = Section<ListenerTLSKey>("the TLS of a listener")
  static let certificate = Section<CertificateKey>("a certificate")
  static let admin = Section<AdminKey>("the admin endpoint", shorthand: .address)
  static let probes = Section<ProbesKey>(
    "the probes listener", hints: ["token": .misplaced("probes only answer reads; `admin:` takes a token")],
    shorthand: .address)
  static let callers = Section<CallersKey>("the callers")
  static let schemaSource = Section<SchemaKey>("a schema source")
  static let limits = Section<LimitsKey>("the limits")
  static let timeouts = Section<TimeoutsKey>("the timeouts")
  static let unrouted = Section<UnroutedKey>("the fallback")

  /// Every section, for whoever lists the keys: documentation, its test, completion.
  static var all: [KnownSection] {
    [
      root.known, listener.known, listenerTLS.known, certificate.known, admin.known, probes.known, callers.known,
      schemaSource.known, upstream.known, upstreamTLS.known, endpoint.known, balance.known, healthCheck.known,
      outlierEjection.known, retries.known, backoff.known, upstreamLimits.known, credentials.known,
      staticCredentials.known,
      fileCredentials.known, oauth2.known, service.known,
      method.known, json.known, query.known, errors.known, errorStatuses.known, inSuccess.known, shadow.known,
      fallback.known, events.known, canary.known, canaryRule.known,
      canaryCondition.known, override.known, `guard`.known, ramp.known, rule.known, additionalRule.known,
      customRule.known, interceptor.known, accessLog.known, requestID.known, headers.known, headerChanges.known,
      apiKey.known, rateLimit.known, furtherLimit.known, concurrency.known, cors.known, jwt.known, jwtIssuer.known,
      keySet.known, externalAuth.known, tracing.known, traceExporter.known, otlp.known, clientCertificate.known,
      routeLimits.known, compression.known, limits.known, timeouts.known, unrouted.known, redis.known, redisTLS.known,
      state.known, audit.known,
    ]
  }
}

enum RootKey: String, SectionKey {
  case listeners, admin, probes, include, schema, upstreams, services, interceptors, limits, timeouts, fallback
  case workers, drain, via, log, redis, state, audit, callers, zone
  case nameServers = "name_servers"
}

enum UnroutedKey: String, SectionKey {
  case upstream, interceptors, limits
  case isPublic = "public"
}

enum ListenerKey: String, SectionKey {
  case address, tls, trusted, forwarded
  case proxyProtocol = "proxy_protocol"
}

enum ListenerTLSKey: String, SectionKey {
  case certificate, key, certificates
  case clientCA = "client_ca"
  case clientAuth = "client_auth"
  case checkAuthority = "check_authority"
}

enum CertificateKey: String, SectionKey {
  case certificate, key
}

enum AdminKey: String, SectionKey {
  case address, token, tls
}

enum ProbesKey: String, SectionKey {
  case address
}

enum CallersKey: String, SectionKey {
  case agentHeader = "agent_header"
  case versionHeader = "version_header"
}

enum SchemaKey: String, SectionKey {
  case descriptorSet = "descriptor_set"
  case protos
  case importPaths = "import_paths"
  case serviceConfig = "service_config"
}

enum LimitsKey: String, SectionKey {
  case message, raw, header, fields, target, connections, buffers
  case requestsPerConnection = "requests_per_connection"
  case bodyRate = "body_rate"
}

enum TimeoutsKey: String, SectionKey {
  case connect, handshake, idle
  case requestHead = "request_head"
  case requestBody = "request_body"
  case connectionAge = "connection_age"
  case streamIdle = "stream_idle"
  case upstreamIdle = "upstream_idle"
}
