import Bytes
import Diagnostics
import HTTPModel
import RPC

/// Answers the requests of the admin endpoint, or of a read-only probes listener.
///
/// Errors are `{"error": "…"}`. Changing verbs are guarded by ``AdminGuard``. On an address that is not loopback the
/// reads that show routes or numbers need the token too; health never does.
package struct AdminHandler: Sendable {
  /// What is served.
  package enum Role: Sendable, Equatable {
    /// All of it; changing verbs need this token when one is set.
    case admin(token: String?)
    /// Only `/healthz`, `/readyz` and `/metrics`.
    case probes
  }

  private enum Resource {
    case health
    case readiness
    case metrics
    case routes
    case upstreams
    case stage(procedure: String)
    case reload

    var allowed: [HTTPMethod] {
      switch self {
      case .health, .readiness, .metrics, .routes, .upstreams: [.get, .head]
      case .stage: [.put]
      case .reload: [.post]
      }
    }
  }

  private let role: Role
  private let control: any ControlPlane

  package init(role: Role, control: any ControlPlane) {
    self.role = role
    self.control = control
  }

  /// The answer to one request. Called on the server's own thread.
  package func respond(to request: LocalRequest) -> LocalResponse {
    guard let resource = resource(at: request.path) else { return .failure(404, "nothing is at this path") }
    guard resource.allowed.contains(request.method) else {
      var response = LocalResponse.failure(405, "\(request.method.name) is not for this path")
      response.fields.append(("allow", resource.allowed.map(\.name).joined(separator: ", ")))
      return response
    }
    if let refusal = refusal(of: request, for: resource) { return refusal }
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
    case "/routes": return .routes
    case "/upstreams": return .upstreams
    case "/reload": return .reload
    default: return Self.procedure(inStagePath: path).map { .stage(procedure: $0) }
    }
  }

  /// The procedure of `/routes/pkg.Service/Method/stage`; its slash may be escaped.
  private static func procedure(inStagePath path: String) -> String? {
    let prefix = "/routes/"
    let suffix = "/stage"
    guard path.hasPrefix(prefix), path.hasSuffix(suffix), path.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return nil }
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
    case .health, .readiness: return nil
    case .metrics, .routes, .upstreams: return rules.refusalOfRead(request)
    case .stage, .reload: return rules.refusalOfChange(request)
    }
  }

  private func answer(_ resource: Resource, _ request: LocalRequest) -> LocalResponse {
    switch resource {
    case .health: return .text("ok\n")
    case .readiness: return control.isReady ? .text("ready\n") : .text("not ready\n", status: 503)
    case .metrics:
      return LocalResponse(
        status: 200, fields: [("content-type", "text/plain; version=0.0.4; charset=utf-8")], body: control.metrics())
    case .routes: return .json(control.routes())
    case .upstreams: return .json(control.upstreams())
    case .stage(let procedure): return setStage(of: procedure, request.body)
    case .reload: return reload(request.body)
    }
  }

  private func setStage(of procedure: String, _ body: [UInt8]) -> LocalResponse {
    let change: StageChange
    do {
      change = try StageChange(parsing: body)
    } catch {
      return .failure(400, error.message)
    }
    switch control.setStage(
      procedure: procedure, stage: change.stage, percent: change.percent, reason: change.reason)
    {
    case .success(let route): return .json(route)
    case .failure(.notFound(let message)): return .failure(404, message)
    case .failure(.invalid(let message)): return .failure(400, message)
    }
  }

  /// There is nothing to say in the body of a reload: it is empty or `{}`.
  private func reload(_ body: [UInt8]) -> LocalResponse {
    if !body.isEmpty, (try? JSONValue(parsing: body)) != .object([]) {
      return .failure(400, "the body of a reload is empty or {}")
    }
    switch control.reload() {
    case .ok(let warnings):
      var members = [JSONValue.Member("outcome", "ok")]
      if !warnings.isEmpty { members.append(JSONValue.Member("warnings", .array(warnings.map(Self.json)))) }
      return .json(.object(members))
    case .failed(let faults):
      return .json(["outcome": "failed", "errors": .array(faults.map(Self.json))], status: 422)
    }
  }

  private static func json(_ diagnostic: Diagnostic) -> JSONValue {
    [
      "file": .string(diagnostic.position.file), "line": .integer(diagnostic.position.line),
      "column": .integer(diagnostic.position.column), "message": .string(diagnostic.message),
    ]
  }
}

extension LocalResponse {
  /// An error of the admin endpoint: `{"error": "…"}`.
  package static func failure(_ status: Int, _ message: String) -> LocalResponse {
    .json(["error": .string(message)], status: status)
  }
}
