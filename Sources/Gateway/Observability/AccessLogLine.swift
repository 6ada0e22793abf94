import Bytes
import Configuration
import EventLoops
import HTTPModel
import RPC
import Tracing

/// The two forms of an access log line.
enum AccessLogLine {
  private static let maximumText = 256
  private static let maximumError = 1024

  static func appendJSON(_ call: Call, to line: inout ByteBuffer) {
    line.append("{\"time\":\"")
    WallClock.nowCoarse().appendRFC3339(to: &line)
    line.append("\"")
    member("client", call.clientAddress?.host, to: &line)
    member("protocol", call.head.version.name, to: &line)
    member("method", call.head.method.name, to: &line)
    member("route", call.routeLabel, to: &line)
    if let route = call.route {
      member("service", route.plan.service, to: &line)
      member("procedure", route.plan.method, to: &line)
    } else {
      line.append(",\"path\":")
      call.head.withPath { JSONText.append(bytes: $0.extracting(0..<min($0.count, maximumText)), into: &line) }
    }
    member("face", call.face.kind.label, to: &line)
    member("stage", call.decision?.stage.rawValue, to: &line)
    member("side", call.decision?.answering.label, to: &line)
    appendFallback(call, to: &line)
    member("upstream", call.upstreamName.isEmpty ? nil : call.upstreamName, to: &line)
    member("endpoint", call.attempt?.endpoint?.place, to: &line)
    line.append(",\"status\":")
    line.append(decimal: call.status)
    member("code", call.outcome.map { "\($0.name)" } ?? "ok", to: &line)
    line.append(",\"duration_ms\":")
    appendMilliseconds(call, to: &line)
    line.append(",\"received\":")
    line.append(decimal: call.receivedBytes)
    line.append(",\"sent\":")
    line.append(decimal: call.sentBytes)
    field("user_agent", call.head.fields.firstIndex(of: .userAgent), call, to: &line)
    if let version = call.plans.snapshot.versionHeader {
      field("app_version", call.head.fields.firstIndex(of: version.span), call, to: &line)
    }
    field("request_id", call.head.fields.firstIndex(of: .xRequestId), call, to: &line)
    appendTrace(call, to: &line)
    if call.wouldBeRateLimited { member("rate_limit", "dry_run", to: &line) }
    if let error = call.error {
      member("error", bounded(error.message), to: &line)
      member("detail", error.logDetail.isEmpty ? nil : bounded(error.logDetail), to: &line)
    }
    line.append("}\n")
  }

  static func appendText(_ call: Call, to line: inout ByteBuffer) {
    WallClock.nowCoarse().appendRFC3339(to: &line)
    word(call.clientAddress?.host ?? "-", to: &line)
    word(call.head.version.name, to: &line)
    word(call.face.kind.label, to: &line)
    word(call.head.method.name, to: &line)
    word(call.routeLabel, to: &line)
    if let route = call.route {
      word(route.plan.name, to: &line)
    } else {
      line.append(" ")
      call.head.withPath { path in
        LogText.append(String(repairing: path.extracting(0..<min(path.count, maximumText))), to: &line)
      }
    }
    word(call.decision.map { stage($0) } ?? "-", to: &line)
    word(call.upstreamName.isEmpty ? "-" : call.upstreamName, to: &line)
    word("\(call.status)", to: &line)
    word(call.outcome.map { "\($0.name)" } ?? "ok", to: &line)
    line.append(" ")
    appendMilliseconds(call, to: &line)
    word("ms", to: &line)
    word("\(call.receivedBytes)", to: &line)
    word("\(call.sentBytes)", to: &line)
    if let error = call.error {
      line.append(" ")
      let message = bounded(error.message)
      JSONText.append(error.logDetail.isEmpty ? message : "\(message): \(bounded(error.logDetail))", into: &line)
    }
    line.append("\n")
  }

  /// `canary/rpc`, or `canary/rpc>rest` when the rest side answers after the rpc side has failed.
  private static func stage(_ decision: StageDecision) -> String {
    let sides = decision.hasFallenBack ? "\(decision.side.label)>\(decision.answering.label)" : decision.side.label
    return "\(decision.stage.rawValue)/\(sides)"
  }

  /// Which side failed before, and of what.
  private static func appendFallback(_ call: Call, to line: inout ByteBuffer) {
    guard let decision = call.decision, decision.hasFallenBack, let failure = call.fallback?.failure else { return }
    member("fallback_from", decision.side.label, to: &line)
    member("fallback_code", "\(failure.code.name)", to: &line)
    member("fallback_error", bounded(failure.message), to: &line)
    member("fallback_detail", failure.logDetail.isEmpty ? nil : bounded(failure.logDetail), to: &line)
  }

  private static func appendTrace(_ call: Call, to line: inout ByteBuffer) {
    guard let context = call.trace?.context else { return }
    line.append(",\"trace_id\":\"")
    context.writeTrace(into: &line)
    line.append("\",\"span_id\":\"")
    TraceContext.append(context.span, to: &line)
    line.append("\"")
  }

  /// The beginning of a text that an upstream may have written.
  private static func bounded(_ text: String) -> String {
    text.utf8.count <= maximumError ? text : String(decoding: text.utf8.prefix(maximumError), as: UTF8.self) + "…"
  }

  private static func member(_ name: StaticString, _ value: String?, to line: inout ByteBuffer) {
    guard let value else { return }
    line.append(",\"")
    line.append(name)
    line.append("\":")
    JSONText.append(value, into: &line)
  }

  private static func field(_ name: StaticString, _ index: Int?, _ call: Call, to line: inout ByteBuffer) {
    guard let index else { return }
    // An interceptor may have set it.
    let secrets = call.plans.snapshot.configuration.secrets
    if !secrets.isEmpty, secrets.contains(call.head.fields.text(at: index)) { return }
    line.append(",\"")
    line.append(name)
    line.append("\":")
    call.head.fields.withValue(at: index) {
      JSONText.append(bytes: $0.extracting(0..<min($0.count, maximumText)), into: &line)
    }
  }

  private static func word(_ text: String, to line: inout ByteBuffer) {
    line.append(" ")
    LogText.append(text, to: &line)
  }

  /// Milliseconds with three decimals.
  private static func appendMilliseconds(_ call: Call, to line: inout ByteBuffer) {
    let microseconds = max(0, (call.worker.loop.now - call.startedAt).wholeNanoseconds / 1000)
    line.append(decimal: microseconds / 1000)
    line.append(".")
    let rest = microseconds % 1000
    if rest < 100 { line.append("0") }
    if rest < 10 { line.append("0") }
    line.append(decimal: rest)
  }
}
