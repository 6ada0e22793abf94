import Configuration
import Diagnostics
import EventLoops
import TransportSecurity

/// Reads the certificates and keys that a configuration names.
struct SecurityCompiler {
  private(set) var security = GatewaySecurity()
  private(set) var diagnostics: [Diagnostic] = []
  private let now = Int(WallClock.now().seconds)
  private let tickets: TicketKeys
  private let files: CredentialFiles

  /// - Returns: what could be read; and all faults and warnings.
  static func compile(
    _ configuration: GatewayConfiguration, tickets: TicketKeys, _ files: CredentialFiles
  ) -> (security: GatewaySecurity, diagnostics: [Diagnostic]) {
    var compiler = SecurityCompiler(tickets: tickets, files: files)
    for listener in configuration.listeners {
      if let tls = listener.tls {
        compiler.security.listeners[listener.address] = compiler.server(tls, ApplicationProtocols.ofListeners)
      }
    }
    if let tls = configuration.admin?.tls {
      compiler.security.admin = compiler.server(tls, ApplicationProtocols.ofAdmin)?.context
    }
    for upstream in configuration.upstreams where upstream.endpoints.contains(where: \.isSecure) {
      let tls = upstream.tls ?? UpstreamTLSConfiguration(position: upstream.position)
      compiler.security.upstreams[upstream.name] = compiler.client(
        tls, ApplicationProtocols.ofUpstream(upstream.http))
    }
    for redis in configuration.redis {
      if let tls = redis.tls { compiler.security.redis[redis.name] = compiler.client(tls, []) }
    }
    return (compiler.security, compiler.diagnostics)
  }

  private init(tickets: TicketKeys, files: CredentialFiles) {
    self.tickets = tickets
    self.files = files
  }

  private mutating func server(_ tls: ListenerTLSConfiguration, _ protocols: [String]) -> ListenerSecurity? {
    let identities = tls.certificates.compactMap { identity($0) }
    let authorities = tls.clientCA.map { self.authorities($0, "client CA") }
    guard identities.count == tls.certificates.count, let place = tls.certificates.first?.certificate else {
      return nil
    }
    let clients: ServerContext.ClientVerification
    switch (tls.clientAuth, authorities) {
    case (.required, let authorities??): clients = .required(authorities)
    case (.optional, let authorities??): clients = .optional(authorities)
    case (_, .some(nil)): return nil
    case (_, nil): clients = .none
    }
    do throws(TLSError) {
      let context = try ServerContext(
        identities: identities, clients: clients, protocols: protocols, tickets: tickets)
      return ListenerSecurity(context: context, checksAuthority: tls.checksAuthority)
    } catch {
      report(place, "certificate", error.reason)
      return nil
    }
  }

  /// Reads the files for speaking with something that is no upstream.
  ///
  /// - Returns: nil when one cannot be used; and all faults and warnings.
  static func client(
    _ tls: UpstreamTLSConfiguration, protocols: [String], _ files: CredentialFiles
  ) -> (security: UpstreamSecurity?, diagnostics: [Diagnostic]) {
    var compiler = SecurityCompiler(tickets: TicketKeys(), files: files)
    let security = compiler.client(tls, protocols)
    return (security, compiler.diagnostics)
  }

  private mutating func client(_ tls: UpstreamTLSConfiguration, _ protocols: [String]) -> UpstreamSecurity? {
    let own = tls.identity.map { identity($0) }
    let authorities = tls.ca.map { self.authorities($0, "CA") }
    if case .some(nil) = own { return nil }
    let trust: ClientContext.Trust
    switch authorities {
    case .some(let found?): trust = .authorities(found)
    case .some(nil): return nil
    case nil: trust = .system
    }
    do throws(TLSError) {
      let context = try ClientContext(trust: trust, identity: own ?? nil, protocols: protocols)
      return UpstreamSecurity(context: context, serverName: tls.serverName)
    } catch {
      report(tls.identity?.certificate ?? FileReference(path: "", position: tls.position), "certificate", error.reason)
      return nil
    }
  }

  // MARK: Files

  private mutating func identity(_ pair: CertificateConfiguration) -> Identity? {
    let identity = take("identity \(pair.certificate.path) \(pair.key.path)") { $0.load(pair) }
    if let identity { note(identity.validUntil, of: pair.certificate) }
    return identity
  }

  private mutating func note(_ end: Int, of file: FileReference) {
    let name = file.isSecret ? "hidden" : file.path
    security.ends[name] = min(end, security.ends[name] ?? end)
  }

  private mutating func authorities(_ file: FileReference, _ what: String) -> [Certificate]? {
    let found = take("authorities \(file.path)") { $0.load(file, what) }
    if let end = found?.map(\.validUntil).min() { note(end, of: file) }
    return found
  }

  /// Reads something whose content of before goes on when it cannot be used.
  private mutating func take<Value: Sendable>(
    _ name: String, _ load: (inout SecurityCompiler) -> Value?
  ) -> Value? {
    var reader = SecurityCompiler(tickets: tickets, files: files)
    let (value, told) = files.take(name) { (load(&reader), reader.diagnostics) }
    diagnostics += told
    return value
  }

  private mutating func load(_ files: CertificateConfiguration) -> Identity? {
    do throws(CredentialFault) {
      let identity = try Identity.load(certificate: files.certificate.path, key: files.key.path)
      for warning in identity.warnings(at: now) {
        report(files.certificate, "certificate", warning, severity: .warning)
      }
      return identity
    } catch {
      let isKey = error.path == files.key.path && error.path != files.certificate.path
      report(isKey ? files.key : files.certificate, isKey ? "key" : "certificate", error, hiding: files)
      return nil
    }
  }

  private mutating func load(_ file: FileReference, _ what: String) -> [Certificate]? {
    do throws(CredentialFault) {
      let found = try Certificate.load(path: file.path)
      for (index, authority) in found.enumerated() {
        if let fault = authority.timeFault(at: now) {
          report(file, what, "its certificate number \(index + 1) is out of time: \(fault)", severity: .warning)
        }
      }
      return found
    } catch {
      report(file, what, error, hiding: nil)
      return nil
    }
  }

  // MARK: Reporting

  private mutating func report(
    _ file: FileReference, _ what: String, _ fault: CredentialFault, hiding files: CertificateConfiguration?
  ) {
    var reason = fault.reason
    // The one fault that names a second file.
    if let other = files?.certificate, other.isSecret { reason = reason.replacing(other.path, with: "its file") }
    report(file, what, reason, cure: fault.cure)
  }

  private mutating func report(
    _ file: FileReference, _ what: String, _ reason: String, cure: String = "", severity: Diagnostic.Severity = .error
  ) {
    let shown = file.isSecret || file.path.isEmpty ? "the \(what)" : "the \(what) \(file.path)"
    let verb = severity == .error ? "\(shown) cannot be used" : shown
    diagnostics.append(Diagnostic(severity: severity, at: file.position, "\(verb): \(reason)", cure: cure))
  }
}
