import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import REST
import RPC

/// Says what a request would become, and why, by taking it through the same code as a real one, up to the moment at
/// which an upstream would be asked.
enum Explanation {
  static func explain(_ request: ExplainedRequest, in snapshot: Snapshot) -> Result<String, ProgramFailure> {
    do throws(SystemError) {
      let loop = try EventLoop(name: "explain", mailbox: try Mailbox())
      let shared = GatewayShared(
        metrics: GatewayMetrics(shards: 1),
        log: GatewayLog(sink: try LogSink(.standardError), format: snapshot.configuration.log))
      let worker = Worker(index: 0, loop: loop, shared: shared, snapshot: snapshot)
      return .success(text(request, worker))
    } catch {
      return .failure(.other("\(error)"))
    }
  }

  private static func text(_ request: ExplainedRequest, _ worker: Worker) -> String {
    let request = withMessage(request)
    var report = ExplanationText()
    report.line("request", "\(request.method) \(request.target)")
    let head = RequestHead()
    let framing: BodyFraming
    do throws(HTTP1Error) {
      // With the fields that were given a client would be refused as here; for the rest they are those of the body.
      let given = try read(request, framedAsGiven: true, into: head, worker)
      head.removeAll()
      guard given != nil, let found = try read(request, framedAsGiven: false, into: head, worker) else {
        return report.refusal(400, "the head is not complete")
      }
      framing = found
    } catch {
      return report.refusal(error.status, error.reason)
    }
    let options = HopByHop.remove(from: head.fields)
    setVersion(head)
    let client = ExplainedClient(caller: caller(worker.plans.snapshot, &report))
    let call = worker.makeCall(client: client, head: head, options: options, framing: framing)
    var sent: (request: UpstreamRequest, upstream: UpstreamConfiguration)?
    var passes = false
    call.onRequest = { [unowned call] in
      sent = ($0, $1)
      passes = call.state == .passing
    }
    describeMatch(call, &report)
    call.begin()
    if framing != .none, client.isReceiving {
      var body = ByteBuffer()
      do throws(RPCError) { body = try self.body(request, call) } catch { call.fail(error) }
      if !body.isEmpty { call.received(&body, body.count) }
      call.receivedEnd(FieldBlock())
    }
    for omission in call.omissions { report.line("note", omission) }
    describeSide(call, asIf: request.stage, &report)
    if let sent {
      report.line("call", passes ? "passes through as it is" : translation(call.face.kind, sent.upstream))
      describe(sent.request, sent.upstream, call, passes: passes, &report)
    } else {
      report.line("answer", "\(client.status), no upstream is asked")
      if let error = call.error, call.face.kind == .grpc || call.face.kind == .grpcWeb {
        // It stands in fields, or in an envelope.
        report.line("error", "\(error.code.name): \(error.message)")
      } else {
        report.body(client.body)
      }
    }
    return report.text
  }

  private static func translation(_ face: FaceKind, _ upstream: UpstreamConfiguration) -> String {
    let (from, to) = (name(face), name(upstream.protocol))
    return from == to
      ? "is encoded anew, in the codec of the upstream" : "is translated from \(from) to \(to)"
  }

  private static func name(_ face: FaceKind) -> String {
    switch face {
    case .rest: "REST"
    case .connect: "Connect"
    case .grpc: "gRPC"
    case .grpcWeb: "gRPC-Web"
    }
  }

  private static func name(_ backend: UpstreamConfiguration.BackendProtocol) -> String {
    switch backend {
    case .rest: "REST"
    case .connect: "Connect"
    case .grpc: "gRPC"
    case .grpcWeb: "gRPC-Web"
    }
  }

  private static func describeMatch(_ call: Call, _ report: inout ExplanationText) {
    guard let route = call.route?.plan else {
      report.line("route", call.fallbackUpstream == nil ? "none" : "none; the fallback takes it")
      return
    }
    report.line("route", route.name)
    guard let number = call.face.binding else {
      report.line("face", "\(call.face.kind.label), \(route.settings.prefix)\(route.procedure)")
      switch call.face.request {
      case .connectGet: report.line("value", "the message from the query")
      case .connectUnary, .grpc, .grpcWeb: report.line("value", "the message from the body")
      default: break
      }
      return
    }
    let binding = route.bindings[number]
    report.line("face", "rest, \(binding.httpMethod) \(route.templates[number])")
    for (capture, range) in zip(binding.template.captures, call.captures) {
      var value = ByteBuffer()
      call.head.withPath { path in
        _ = PercentCoding.decode(
          path.extracting(range), as: capture.isMultiSegment ? .segments : .segment, into: &value)
      }
      report.line("value", "\(capture.fieldPath) = \"\(String(repairing: value.span))\" from the path")
    }
    describeQuery(call, &report)
    if call.hasRequestBody, let name = binding.bodyName {
      report.line("value", name == "*" ? "all other fields from the body" : "\(name) from the body")
    }
  }

  private static func describeQuery(_ call: Call, _ report: inout ExplanationText) {
    let query = call.head.withQuery { String(repairing: $0) }
    for pair in query.split(separator: "&", omittingEmptySubsequences: true) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
        var decoded = ByteBuffer()
        _ = PercentCoding.decode(Array(part.utf8).span, as: .query, into: &decoded)
        return String(repairing: decoded.span)
      }
      report.line("value", "\(parts[0]) = \"\(parts.count > 1 ? parts[1] : "")\" from the query")
    }
  }

  private static func describe(
    _ request: UpstreamRequest, _ upstream: UpstreamConfiguration, _ call: Call, passes: Bool,
    _ report: inout ExplanationText
  ) {
    let endpoints = upstream.endpoints.map(\.text)
    let place = upstream.isGateway ? ", the gateway itself" : " at \(endpoints.joined(separator: ", "))"
    report.line("upstream", "\(upstream.name) (\(upstream.protocol.rawValue))\(place)")
    report.line("sent", "\(request.method.name) \(request.target.withSpan { String(repairing: $0) })")
    for index in request.fields.indices where !request.fields.entry(at: index).isRemoved {
      let value = request.fields.text(at: index)
      let secret =
        [.authorization, .cookie, .proxyAuthorization].contains(request.fields.entry(at: index).name)
        || call.plans.snapshot.configuration.holdsSecret(value)
      report.line("", "\(request.fields.name(at: index)): \(secret ? "(hidden)" : value)")
    }
    guard let body = request.body, !body.buffer.isEmpty else {
      if passes, call.hasRequestBody { report.line("", "the body as it is") }
      return
    }
    guard upstream.protocol.isRPC, upstream.codec == .proto else {
      // A REST backend may be sent a part of the message, or what is no message at all.
      let isReadable = body.withSpan { UTF8Validation.isValid($0) }
      if isReadable {
        body.withSpan { report.body(String(repairing: $0)) }
      } else {
        report.body("(\(body.buffer.count) bytes)")
      }
      return
    }
    guard let readable = try? body.converted(to: .json, call) else {
      report.body("(\(body.buffer.count) bytes)")
      return
    }
    readable.withSpan { report.body("\(String(repairing: $0))  (as protobuf, \(body.buffer.count) bytes)") }
  }
}
