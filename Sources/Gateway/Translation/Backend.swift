import Configuration
import HTTPModel
import RPC

/// The answering side of a call: turns a message into an upstream request, and its answer into a message or an error.
///
/// One file for each protocol. A backend never knows which face the caller has. It is an object, which a call refers to
/// instead of having a copy of it.
protocol Backend: AnyObject {
  /// How it carries streams; nil when it does not.
  var stream: (any StreamBackend)? { get }
  /// Whether the content coding of the answer's body is undone before
  /// ``decodeReply(_:_:body:trailers:into:)``.
  var readsPlainBody: Bool { get }

  /// Whether its bodies, both ways, are the bare bytes of one protobuf message: then one can be begun before it is
  /// whole.
  var carriesBareMessages: Bool { get }

  /// Bytes of the greatest body of an answer that can hold a message of so many.
  func bodyLimit(_ message: Int) -> Int

  /// The protocol's way to ask; the call's metadata goes along.
  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError)

  /// Reads an answer; throws the error that the answer is.
  ///
  /// - Parameters:
  ///   - body: the whole body, its content coding undone if ``readsPlainBody`` says so.
  ///   - trailers: of the HTTP message.
  func decodeReply(
    _ call: Call, _ head: ResponseHead, body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError)
}

extension Backend {
  var stream: (any StreamBackend)? { nil }
  var readsPlainBody: Bool { false }
  var carriesBareMessages: Bool { false }

  func bodyLimit(_ message: Int) -> Int { message }
}

/// The backend of a route's upstream.
enum Backends {
  static func backend(for route: Route, _ upstream: UpstreamDialect) -> any Backend {
    switch upstream.protocol {
    case .rest: RESTBackend(route: route, codec: upstream.messageCodec)
    case .connect: ConnectBackend(route: route, codec: upstream.messageCodec)
    case .grpc: GRPCBackend(route: route, codec: upstream.messageCodec)
    case .grpcWeb: GRPCWebBackend(route: route, codec: upstream.messageCodec)
    }
  }
}
