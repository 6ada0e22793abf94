import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC

/// The request as a client would send it.
extension Explanation {
  /// A request whose protocol has no call without a message gets an empty one if none was given.
  static func withMessage(_ request: ExplainedRequest) -> ExplainedRequest {
    guard request.body == nil, let type = request.fields.first(where: { $0.name.lowercased() == "content-type" })
    else { return request }
    let value = type.value.lowercased()
    guard value.hasPrefix("application/grpc") || value.hasPrefix("application/connect+") else { return request }
    var request = request
    request.body = Array("{}".utf8)
    return request
  }

  /// Reads the head as a connection would; nil when it does not end.
  static func read(
    _ request: ExplainedRequest, framedAsGiven: Bool, into head: RequestHead, _ worker: Worker
  ) throws(HTTP1Error) -> BodyFraming? {
    var input = ByteBuffer()
    write(request, framedAsGiven: framedAsGiven, into: &input)
    var parser = RequestHeadParser(limits: worker.headLimits)
    guard try parser.parse(&input, into: head) else { return nil }
    return try MessageFraming.ofRequest(head)
  }

  /// - Parameter framedAsGiven: whether a Content-Length among the fields stands; a body has its own else.
  private static func write(_ request: ExplainedRequest, framedAsGiven: Bool, into input: inout ByteBuffer) {
    input.append(text: "\(request.method) \(request.target) HTTP/1.1\r\n")
    if !request.fields.contains(where: { $0.name.lowercased() == "host" }) { input.append("Host: localhost\r\n") }
    let names = request.fields.map { $0.name.lowercased() }
    for (field, name) in zip(request.fields, names) where framedAsGiven || name != "content-length" {
      input.append(text: "\(field.name): \(field.value)\r\n")
    }
    if let body = request.body {
      if !request.fields.contains(where: { $0.name.lowercased() == "content-type" }) {
        input.append("Content-Type: application/json\r\n")
      }
      let isFramed = names.contains("transfer-encoding") || framedAsGiven && names.contains("content-length")
      if !isFramed { input.append(text: "Content-Length: \(body.count)\r\n") }
    }
    input.append("\r\n")
  }

  /// Nobody called. What upstreams are told is what they would be told of a client on this machine, at the first listener.
  static func caller(_ snapshot: Snapshot, _ report: inout ExplanationText) -> ConnectionOrigin? {
    guard let listener = snapshot.configuration.listeners.first, let address = SocketAddress(host: "127.0.0.1", port: 0)
    else { return nil }
    report.line("client", "\(address.host), at the listener \(listener.address.text)")
    return ConnectionOrigin(
      address: address, port: listener.address.port, plan: snapshot.listener(listener.address))
  }

  /// gRPC comes over HTTP/2 only.
  static func setVersion(_ head: RequestHead) {
    if let face = RPCFaces.grpcFace(spokenBy: head), face.kind == .grpc { head.version = .http2 }
  }

  /// The body of the call: what was given is the message in JSON, and is put into the codec and the envelope of the
  /// content type, which nobody can type.
  static func body(_ request: ExplainedRequest, _ call: Call) throws(RPCError) -> ByteBuffer {
    let given = Payload()
    given.codec = .json
    given.buffer.append(request.body ?? [])
    var body = ByteBuffer()
    guard let codec = codec(of: call.face.request), call.route != nil else {
      body.append(given.buffer)
      return body
    }
    let message = given.buffer.isEmpty ? given : try given.converted(to: codec, call)
    if case .connectUnary? = call.face.request {
      body.append(message.buffer)
      return body
    }
    GRPCRequests.write(message, into: &body)
    guard case .grpcWeb(_, isText: true)? = call.face.request else { return body }
    var text = ByteBuffer()
    Base64.encode(body.span, into: &text)
    return text
  }

  private static func codec(of request: ProcedureRequest?) -> MessageCodec? {
    switch request {
    case .connectUnary(let codec), .connectStreaming(let codec): codec
    case .grpc(let codec), .grpcWeb(let codec, _): codec
    default: nil
    }
  }
}
