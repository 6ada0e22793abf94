import Bytes
import Diagnostics
import EventLoops
import HTTPModel
import RPC

/// Answers the requests of the admin endpoint, or of a read-only probes listener.
///
/// Errors are `{"error": "…"}`. Changing verbs are guarded by ``AdminGuard``. On an address that is not loopback the
/// reads that show routes or numbers need the token too; health and the empty page never do.
package struct AdminHandler: Sendable {
  /// What is served.
  package enum Role: Sendable, Equatable {
    /// All of it; changing verbs need this token when one is set.
    case admin(token: String?)
    /// Only `/healthz`, `/readyz` and `/metrics`.
    case probes
  }

  private enum Resource {
    case page
    case health
    case readiness
    case metrics
    case routes
    case upstreams
    case audit
    case config
    case route(procedure: String)
    case samples(procedure: String)
    case stage(procedure: String)
    case hold(procedure: String)
    case reload

    var allowed: [HTTPMethod] {
      switch self {
      case .page, .health, .readiness, .metrics, .routes, .route, .samples, .upstreams, .audit, .config: [.get, .head]
      case .stage: [.put, .delete]
      case .hold: [.put]
      case .reload: [.post]
      }
    }
  }

  private let role: Role
  private let control: any ControlPlane
  private let refused: @Sendable (LocalRequest, LocalResponse) -> Void

  /// - Parameter refused: told of each request that ``AdminGuard`` has refused, with the answer; on the server's thread.
  package init(
    role: Role, control: any ControlPlane,
    refused: @escaping @Sendable (LocalRequest, LocalResponse) -> Void = { _, _ in }
  ) {
    self.role = role
    self.control = control
    self.refused = refused
  }

  /// The answer to one request. Called on the server's own thread.
  package func respond(to request: LocalRequest) -> LocalResponse {
    var response = decide(request)
    // What is no page is not to be run, framed, embedded by pages of others, or kept.
    if !response.fields.contains(where: { $0.name == "content-security-policy" }) {
      response.fields += Self.closed
    }
    return response
  }

  private static let closed = [
    (name: "cache-control", value: "no-store"), (name: "x-content-type-options", value: "nosniff"),
    (name: "content-security-policy", value: "default-src 'none'; frame-ancestors 'none'"),
    (name: "cross-origin-resource-policy", value: "same-origin"),
  ]

  private func decide(_ request: LocalRequest) -> LocalResponse {
    guard let resource = resource(at: request.path) else { return .failure(404, "nothing is at this path") }
    guard resource.allowed.contains(request.method) else {
      var response = LocalResponse.failure(405, "\(request.method.name) is not for this path")
      response.fields.append(("allow", resource.allowed.map(\.name).joined(separator: ", ")))
      return response
    }
    if let refusal = refusal(of: request, for: resource) {
      if case .reload = resource {
        control.refusedReload(actor: actor(of: request, showedToken: false), reason: Self.reason(refusal))
      }
      refused(request, refusal)
      return refusal
    }
    return answer(resource, request)
  }

  private func resource(at path: String) -> Resource? {
    switch path {
    case "/healthz": return .health
    case "/readyz": return .readiness
    case "/metrics": return .metrics
    default: break
    }
    guard case .admin = role else { return nil }
    switch path {
    case "/": return .page
    case "/routes": return .routes
    case "/upstreams": return .upstreams
    case "/audit": return .audit
    case "/config": return .config
    case "/reload": return .reload
    default: return Self.resource(ofRouteAt: path)
    }
  }

  /// `/routes/pkg.Service/Method` and what is below it; the slash of the procedure may be escaped.
  private static func resource(ofRouteAt path: String) -> Resource? {
    let below = path.lastIndex(of: "/").map { String(path[$0...]) } ?? ""
    switch below {
    case "/stage": if let name = procedure(path, below: below) { return .stage(procedure: name) }
    case "/samples": if let name = procedure(path, below: below) { return .samples(procedure: name) }
    case "/hold": if let name = procedure(path, below: below) { return .hold(procedure: name) }
    default: break
    }
    return procedure(path, below: "").map { .route(procedure: $0) }
  }

  private static func procedure(_ path: String, below suffix: String) -> String? {
    let prefix = "/routes/"
    guard path.hasPrefix(prefix), path.utf8.count > prefix.utf8.count + suffix.utf8.count else { return nil }
    let encoded = Array(path.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count))
    var decoded = ByteBuffer()
    guard PercentCoding.decode(encoded.span, as: .segment, into: &decoded) == nil,
      UTF8Validation.isValid(decoded.span)
    else { return nil }
    let procedure = String(repairing: decoded.span)
    let parts = procedure.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    return procedure
  }

  private func refusal(of request: LocalRequest, for resource: Resource) -> LocalResponse? {
    guard case .admin(let token) = role else { return nil }
    let rules = AdminGuard(token: token)
    switch resource {
    // The page shows nothing by itself.
    case .page, .health, .readiness: return nil
    case .metrics, .routes, .route, .samples, .upstreams, .audit, .config: return rules.refusalOfRead(request)
    case .stage, .hold, .reload: return rules.refusalOfChange(request)
    }
  }

  private func answer(_ resource: Resource, _ request: LocalRequest) -> LocalResponse {
    switch resource {
    case .page: return MigrationPage.response
    case .health: return .text("ok\n")
    case .readiness: return control.isReady ? .text("ready\n") : .text("not ready\n", status: 503)
    case .metrics:
      return LocalResponse(
        status: 200, fields: [("content-type", "text/plain; version=0.0.4; charset=utf-8")], body: control.metrics())
    case .routes: return .json(control.routes())
    case .upstreams: return .json(control.upstreams())
    case .audit: return .json(control.audit())
    case .config: return .json(control.config())
    case .route(let procedure): return answer(control.route(procedure))
    case .samples(let procedure): return answer(control.samples(procedure))
    case .stage(let procedure): return changeStage(of: procedure, request)
    case .hold(let procedure): return hold(procedure, request)
    case .reload: return reload(request)
    }
  }

  private func changeStage(of procedure: String, _ request: LocalRequest) -> LocalResponse {
    do {
      if request.method == .delete {
        let reason = try ChangeBody.reason(of: request.body)
        return answer(control.clearStage(procedure, reason: reason, actor: actor(of: request)))
      }
      return answer(control.setStage(procedure, try StageChange(parsing: request.body), actor: actor(of: request)))
    } catch {
      return .failure(400, error.message)
    }
  }

  /// Who asks, once it is known that it may.
  private func actor(of request: LocalRequest) -> AdminActor {
    var showedToken = false
    if case .admin(.some) = role { showedToken = true }
    return actor(of: request, showedToken: showedToken)
  }

  private func actor(of request: LocalRequest, showedToken: Bool) -> AdminActor {
    AdminActor(address: request.peer?.host ?? "", agent: request.field("user-agent") ?? "", showedToken: showedToken)
  }

  /// What a refusal says.
  private static func reason(_ refusal: LocalResponse) -> String {
    (try? JSONValue(parsing: refusal.body))?["error"]?.text ?? "status \(refusal.status)"
  }

  private func hold(_ procedure: String, _ request: LocalRequest) -> LocalResponse {
    do {
      return answer(control.hold(procedure, try HoldChange(parsing: request.body), actor: actor(of: request)))
    } catch {
      return .failure(400, error.message)
    }
  }

  private func answer(_ result: Result<[UInt8], ControlError>) -> LocalResponse {
    switch result {
    case .success(let route): .json(route)
    case .failure(.notFound(let message)): .failure(404, message)
    case .failure(.invalid(let message)): .failure(400, message)
    }
  }

  /// There is nothing to say in the body of a reload: it is empty or `{}`.
  private func reload(_ request: LocalRequest) -> LocalResponse {
    let body = request.body
    if !body.isEmpty, (try? JSONValue(parsing: body)) != .object([]) {
      return .failure(400, "the body of a reload is empty or {}")
    }
    switch control.reload(actor: actor(of: request)) {
    case .ok(let warnings): return .json(.object([JSONValue.Member("outcome", "ok")] + Self.members(of: warnings)))
    case .failed(let faults):
      let errors = faults.filter { $0.severity == .error }.map(\.json)
      let members: [JSONValue.Member] = [
        JSONValue.Member("outcome", "failed"), JSONValue.Member("errors", .array(errors)),
      ]
      return .json(.object(members + Self.members(of: faults.filter { $0.severity != .error })), status: 422)
    case nil:
      return .failure(503, "the reload has not ended yet; it goes on, and the log tells what comes of it")
    }
  }

  private static func members(of warnings: [Diagnostic]) -> [JSONValue.Member] {
    warnings.isEmpty ? [] : [JSONValue.Member("warnings", .array(warnings.map(\.json)))]
  }
}

extension LocalResponse {
  /// An error of the admin endpoint: `{"error": "…"}`.
  package static func failure(_ status: Int, _ message: String) -> LocalResponse {
    .json(["error": .string(message)], status: status)
  }
}
