import Bytes
import HTTP1
import HTTPModel
import RPC
import TransportSecurity

/// From the head of a request to its call.
extension Worker {
  /// Finds out what a request is for, and makes the call that begins with it.
  func makeCall(
    client: any ClientStream, head: RequestHead, options: ConnectionOptions, framing: BodyFraming
  ) -> Call {
    let plans = plans
    var route: RouteState?
    var face: any Face = RESTFace(binding: 0)
    var fallback: Int?
    var refusal = client.coveredNames.flatMap { Self.misdirected(head, $0) }
    switch router.route(head, in: plans.snapshot) {
    case .procedure(let index, let request):
      route = plans.routes[index]
      face = RPCFaces.face(for: request)
      if request == .methodNotAllowed, let spoken = RPCFaces.grpcFace(spokenBy: head) {
        face = spoken
        refusal = refusal ?? .methodNotAllowed(allowsGet: plans.snapshot.routes[index].allowsGet)
      }
    case .rest(let index, let binding):
      route = plans.routes[index]
      face = RESTFace(binding: binding)
    case .ambiguous(let index, let binding):
      route = plans.routes[index]
      face = RESTFace(binding: binding)
      // Stands if the interceptors should let it through.
      refusal = refusal ?? PathSpelling.refusal
    case .fallback(let upstream):
      fallback = upstream
      if let spoken = RPCFaces.face(spokenBy: head) { face = spoken }
    case .preflight(let index, let binding):
      route = plans.routes[index]
      face = binding.map { RESTFace(binding: $0) } ?? ConnectFace(request: .methodNotAllowed)
      // Stands if the interceptors should let it through: OPTIONS is no method of the route.
      refusal = RPCError(.unimplemented, "OPTIONS is not allowed here", httpStatus: 405)
    case .refused(let error):
      refusal = refusal ?? error
      if let spoken = RPCFaces.face(spokenBy: head) {
        face = spoken
        // What no procedure is, is unimplemented and no missing thing (Connect protocol, conformance unexpected-uri).
        if refusal?.httpStatus != 421 { refusal?.code = .unimplemented }
      }
    }
    let call = Call(
      worker: self, plans: plans, route: route, face: face, client: client, head: head, options: options,
      framing: framing, captures: route == nil ? [] : router.takeCaptures(), fallbackUpstream: fallback)
    if let refusal { call.pendingError = refusal }
    return call
  }

  /// The call of a request whose head was refused before anybody could ask for what it is: it has no route, and of the
  /// head what was read until then.
  func makeRefusedCall(client: any ClientStream, head: RequestHead) -> Call {
    var face = RPCFaces.face(spokenBy: head) ?? RESTFace(binding: 0)
    // What is no acceptable HTTP/1.1 is said by HTTP's status (RFC 9112 section 3.2), which gRPC would hide.
    if face.kind == .grpc, head.version != .http2 { face = RESTFace(binding: 0) }
    return Call(
      worker: self, plans: plans, route: nil, face: face, client: client, head: head, options: ConnectionOptions(),
      framing: .none, captures: [], fallbackUpstream: nil)
  }

  /// The error of a request that came over a connection whose certificate is for others (RFC 9110 section 15.5.20): the
  /// client goes on with it over a connection of its own.
  private static func misdirected(_ head: RequestHead, _ names: CertificateNames) -> RPCError? {
    // HTTP/1.0 need not say for whom it is.
    let isCovered = head.authority.withSpan { $0.isEmpty || names.cover(authority: $0) }
    if isCovered { return nil }
    return RPCError(
      .failedPrecondition, "the certificate of this connection is not for the authority of the request",
      httpStatus: 421)
  }
}
