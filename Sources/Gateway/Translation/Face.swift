import Bytes
import HTTPModel
import RPC

/// The protocol that a caller speaks: the label of metrics and logs.
enum FaceKind: UInt8 {
  case rest
  case connect

  var label: String {
    switch self {
    case .rest: "rest"
    case .connect: "connect"
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
  /// What a Connect caller asked for.
  var request: ProcedureRequest? { get }

  /// Checks what can be refused by the head alone: versions, media types, codings.
  func checkHead(_ call: Call) throws(RPCError)

  /// The caller's own deadline from now on, if it gave one.
  func timeout(_ call: Call) throws(RPCError) -> Duration?

  /// Reads the request message.
  ///
  /// - Parameter body: the whole request body, its content coding undone.
  func decodeRequest(_ call: Call, body: Span<UInt8>) throws(RPCError) -> Payload

  /// Writes a message as the caller's answer. Metadata is in the call: ``Call/replyMetadata``, ``Call/replyTrailers``.
  func encodeReply(_ call: Call, _ payload: Payload, into answer: Answer) throws(RPCError)

  /// Writes an error as the caller's answer; must not fail.
  func encodeError(_ call: Call, _ error: RPCError, into answer: Answer)
}

/// A whole answer of the gateway's own making.
final class Answer {
  var status = 200
  let fields = FieldBlock()
  var body = ByteBuffer()

  func removeAll() {
    status = 200
    fields.removeAll()
    body.removeAll()
  }
}

/// The answering side of a call: turns a message into an upstream request, and its answer into a message or an error.
protocol Backend {
  /// Whether its bodies, both ways, are the bare bytes of one protobuf message: then one can be begun before it is
  /// whole.
  var carriesBareMessages: Bool { get }

  /// The protocol's way to ask; the call's metadata goes along.
  func encodeRequest(_ call: Call, _ payload: Payload, into request: UpstreamRequest) throws(RPCError)

  /// Reads an answer; throws the error that the answer is.
  ///
  /// - Parameter body: the whole body, its content coding undone.
  func decodeReply(_ call: Call, _ head: ResponseHead, body: Span<UInt8>, into payload: Payload) throws(RPCError)
}

extension Backend {
  var carriesBareMessages: Bool { false }
}
