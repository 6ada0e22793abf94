import Configuration
import EventLoops
import HTTPModel
import RPC
import Tracing

/// What spans say of calls, by OpenTelemetry's conventions for HTTP and RPC. No path, no query, no message: as in the
/// access log.
enum CallSpans {
  static func server(_ call: Call, _ trace: CallTrace) -> SpanRecord {
    var span = SpanRecord(
      context: trace.context, parent: trace.parent, kind: .server, name: name(of: call, call.face.binding),
      start: trace.time(of: call.startedAt), end: trace.time(of: call.worker.loop.now))
    span.state = trace.state
    addRoute(call, to: &span)
    span.add("http.request.method", call.head.method.name)
    span.add("http.route", call.face.binding == nil ? nil : call.routeLabel)
    span.add("http.response.status_code", call.status)
    span.add("network.protocol.version", version(call.head.version))
    span.add("client.address", call.clientAddress?.host)
    span.add("user_agent.original", text(.userAgent, of: call))
    span.add("turnout.request_id", text(.xRequestId, of: call))
    span.add("turnout.face", call.face.kind.label)
    span.add("turnout.stage", call.decision?.stage.rawValue)
    span.add("turnout.side", call.decision?.answering.label)
    if let decision = call.decision, decision.hasFallenBack {
      span.add("turnout.fallback_from", decision.side.label)
      span.add("turnout.fallback_code", call.fallback?.failure.map { "\($0.code.name)" })
    }
    if let outcome = call.outcome {
      let code = "\(outcome.name)"
      span.add(call.face.kind == .rest ? "turnout.code" : "rpc.response.status_code", code)
      if isServerFault(outcome, call.status) {
        span.status = .error
        span.message = call.error.map { String($0.message.prefix(256)) } ?? ""
        span.add("error.type", code)
      }
    }
    return span
  }

  static func client(
    _ attempt: CallTrace.PendingAttempt, _ end: AttemptEnd, _ call: Call, _ trace: CallTrace
  ) -> SpanRecord {
    var context = trace.context
    context.span = attempt.span
    let isREST = call.decision.map { $0.answering == .rest } ?? true
    var span = SpanRecord(
      context: context, parent: trace.context.span, kind: .client,
      name: isREST
        ? name(of: call, call.route == nil ? nil : call.face.binding ?? call.restBinding, attempt.method)
        : call.route?.plan.name ?? attempt.method,
      start: trace.time(of: attempt.startedAt), end: trace.time(of: call.worker.loop.now))
    span.state = trace.state
    addRoute(call, to: &span)
    span.add("http.request.method", attempt.method)
    span.add("turnout.upstream", end.upstream)
    span.add("turnout.side", call.decision?.answering.label)
    if let status = end.status {
      span.add("http.response.status_code", status)
      if status >= 400 {
        span.status = .error
        span.add("error.type", "\(status)")
      }
    }
    if let failure = end.failure {
      span.status = .error
      span.add("error.type", failure.label)
    }
    return span
  }

  /// `GET /v1/books/{id}`, `library.v1.Library/GetBook`, or the method of what has no route.
  private static func name(of call: Call, _ binding: Int?, _ method: String? = nil) -> String {
    let verb = method ?? call.head.method.name
    guard let route = call.route?.plan else { return verb }
    guard let binding, binding < route.templates.count else { return route.name }
    return "\(verb) \(route.templates[binding])"
  }

  private static func addRoute(_ call: Call, to span: inout SpanRecord) {
    guard let route = call.route?.plan else { return }
    switch call.face.kind {
    case .rest: break
    case .connect: span.add("rpc.system.name", "connectrpc")
    case .grpc: span.add("rpc.system.name", "grpc")
    case .grpcWeb: span.add("rpc.system.name", "grpc_web")
    }
    span.add("rpc.service", route.service)
    span.add("rpc.method", route.method)
  }

  /// What a caller did wrong is no fault of the service.
  private static func isServerFault(_ outcome: Code, _ status: Int) -> Bool {
    switch outcome {
    case .unknown, .deadlineExceeded, .unimplemented, .internal, .unavailable, .dataLoss: true
    default: status >= 500
    }
  }

  private static func version(_ version: HTTPVersion) -> String {
    switch version {
    case .http10: "1.0"
    case .http11: "1.1"
    case .http2: "2"
    }
  }

  private static func text(_ name: FieldName, of call: Call) -> String? {
    guard let index = call.head.fields.firstIndex(of: name) else { return nil }
    let text = call.head.fields.text(at: index)
    // An interceptor may have set it.
    return call.plans.snapshot.configuration.holdsSecret(text) ? nil : String(text.prefix(256))
  }
}
