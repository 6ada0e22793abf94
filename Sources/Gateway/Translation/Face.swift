import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// The protocol that a caller speaks: the label of metrics and logs.
enum FaceKind: UInt8 {
  case rest
  case connect
  case grpc
  case grpcWeb

  var label: String {
    switch self {
    case .rest: "rest"
    case .connect: "connect"
    case .grpc: "grpc"
    case .grpcWeb: "grpc_web"
    }
  }
}

/// The caller's side of a call: turns its HTTP request into a message, and a reply into its HTTP answer.
///
/// One file for each protocol. A face never knows which backend answers.
protocol Face {
  var kind: FaceKind { get }
  /// The binding that a REST caller used: an index into ``Route/bindings``.
  var binding: Int? { get }
  /// What an RPC caller asked for.
  var request: ProcedureRequest? { get }
  /// How it carries streams; nil when it does not, or when this caller asked for no stream.
  var stream: (any StreamFace)? { get }
  /// Whether the content coding of the request's body is undone before ``decodeRequest(_:body:)``. A face that reads it
  /// itself can leave a message compressed for a side that takes it so.
  var readsPlainBody: Bool { get }

  /// Checks what can be refused by the head alone: versions, media types, codings.
  func checkHead(_ call: Call) throws(RPCError)

  /// Whether an upstream speaks what the caller speaks, codec included, so that the bytes pass as they are.
  func agrees(with upstream: UpstreamDialect, _ call: Call) throws(RPCError) -> Bool

  /// The caller's own deadline from now on, if it gave one.
  func timeout(_ call: Call) throws(RPCError) -> Duration?

  /// Bytes of the greatest request body that can hold a message of so many.
  func bodyLimit(_ message: Int) -> Int

  /// The codings in which the caller reads messages.
  func acceptedCodings(_ call: Call) -> AcceptEncoding

  /// Reads the request message.
  ///
  /// - Parameter body: the whole request body, its content coding undone if ``readsPlainBody`` says so.
  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload

  /// Writes a message as the caller's answer. Metadata is in the call: ``Call/replyMetadata``, ``Call/replyTrailers``.
  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError)

  /// Writes an error as the caller's answer, no byte of which was sent; must not fail.
  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer)
}

extension Face {
  var stream: (any StreamFace)? { nil }
  var readsPlainBody: Bool { false }

  func bodyLimit(_ message: Int) -> Int { message }

  func acceptedCodings(_ call: Call) -> AcceptEncoding { AcceptEncoding(call.head.fields, .acceptEncoding) }
}

/// Which face a request on a procedure has.
enum RPCFaces {
  static func face(for request: ProcedureRequest) -> any Face {
    switch request {
    case .grpc(let codec): GRPCFace(codec: codec)
    case .grpcWeb(let codec, let isText): GRPCWebFace(codec: codec, isText: isText)
    case .connectUnary, .connectGet, .connectStreaming, .unsupportedMediaType, .methodNotAllowed:
      ConnectFace(request: request)
    }
  }

  /// That of a gRPC or gRPC-Web client, whatever its method: nil when the content type says that it is none.
  static func grpcFace(spokenBy head: RequestHead) -> (any Face)? {
    guard let index = head.fields.firstIndex(of: .contentType),
      let parts = head.fields.withValue(at: index, { GRPCContentType.parts($0) })
    else { return nil }
    return parts.isWeb ? GRPCWebFace(codec: parts.codec, isText: parts.isText) : GRPCFace(codec: parts.codec)
  }

  /// The face of a request that no route has, if its head alone says that an RPC client sent it.
  static func face(spokenBy head: RequestHead) -> (any Face)? {
    let request = ProcedureRequest.classify(head, allowsGet: false)
    switch request {
    case .grpc, .grpcWeb: return face(for: request)
    case .connectUnary, .connectStreaming: return ConnectFace.speaks(head) ? face(for: request) : nil
    case .connectGet, .unsupportedMediaType, .methodNotAllowed:
      return ConnectFace.speaks(head) ? ConnectFace(request: .connectUnary(.json)) : nil
    }
  }
}

extension AcceptEncoding {
  /// What the fields of one name say.
  init(_ fields: FieldBlock, _ name: FieldName) {
    self.init()
    guard fields.contains(name) else { return }
    for index in fields.indices where fields.entry(at: index).name == name && !fields.entry(at: index).isRemoved {
      fields.withValue(at: index) { add($0) }
    }
  }
}
