import Bytes
import Compression
import HTTPModel
import RPC

/// The caller's side of a stream that is not passed through: how its request holds messages, and how its answer does.
///
/// A face whose bodies are no envelopes (REST: lines, an array, events, raw chunks) gives a ``MessageReader`` and a
/// ``MessageWriter`` in their place; the relay then gathers each message and has it converted, and all else (order,
/// back-pressure, deadlines, how it ends) stays the relay's. So a REST face joins streams by returning such a
/// `StreamFace` as its ``Face/stream``, and in no other way.
protocol StreamFace {
  /// How the request's messages are read.
  ///
  /// - Throws: for a coding or a codec that cannot be read.
  func source(_ call: Call) throws(RPCError) -> MessageSource

  /// How the answer's messages are written.
  ///
  /// - Throws: for a codec that cannot be written.
  func sink(_ call: Call) throws(RPCError) -> MessageSink

  /// The fields of the answer's head, whose status is 200. Metadata is in ``Call/replyMetadata``.
  ///
  /// - Parameter coding: that of the messages that are flagged as compressed.
  func writeHead(_ call: Call, coding: ContentCoding, into fields: FieldBlock)

  /// The end of an answer whose messages are whole. Trailing metadata is in ``Call/replyTrailers``.
  ///
  /// - Parameters:
  ///   - error: nil for a call that went well.
  ///   - body: gets what stands in the body.
  ///   - trailers: get the trailers of the HTTP message.
  func writeEnd(_ call: Call, _ error: RPCError?, into body: inout ByteBuffer, trailers: FieldBlock)

  /// Whether an end can be understood after half a message, too: it stands outside the body.
  var endsAnywhere: Bool { get }

  /// Whether the request's body is one message as a whole. It is then read before anybody is asked, by
  /// ``Face/decodeRequest(_:body:)``, and ``source(_:)`` is not called.
  func gathersRequest(_ call: Call) -> Bool

  /// Whether the answer's head waits for its first message: an error before that is an answer of its own.
  func headWaits(_ call: Call) -> Bool

  /// Whether an error can be told in an answer that has begun; if not, the answer is cut short.
  func tellsErrors(_ call: Call) -> Bool

  /// The message of an answer that is none of a stream, when all of it has come: ``Face/encodeReply(_:_:into:)`` writes
  /// it. Nil where messages are written as they come.
  func wholeReply(_ call: Call) -> Payload?
}

extension StreamFace {
  func gathersRequest(_ call: Call) -> Bool { false }
  func headWaits(_ call: Call) -> Bool { false }
  func tellsErrors(_ call: Call) -> Bool { true }
  func wholeReply(_ call: Call) -> Payload? { nil }
}

/// The answering side of a stream that is not passed through.
///
/// A backend whose bodies are no envelopes (REST) gives a ``MessageWriter`` that makes the request of the messages, and a
/// ``MessageReader`` of its answer; the others say their ``dialect`` and are done.
protocol StreamBackend {
  var codec: MessageCodec { get }
  /// Of the envelopes of its bodies; nil where they are none.
  var dialect: EnvelopeDialect? { get }

  /// How the request holds its messages.
  ///
  /// - Parameter request: for a writer that makes all of it.
  /// - Throws: where no request can hold them.
  func requestForm(_ call: Call, _ request: UpstreamRequest) throws(RPCError) -> MessageSink.Form

  /// How the answer holds its messages, now that its head was read.
  func replyForm(_ call: Call, _ head: ResponseHead) throws(RPCError) -> MessageSource.Form

  /// The head of a request whose body will be envelopes.
  ///
  /// - Parameter coding: that of the messages that are flagged as compressed.
  /// - Throws: for metadata that the protocol does not allow.
  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) throws(RPCError)

  /// Looks at the answer's head, and keeps its metadata in the call.
  ///
  /// - Throws: for an answer that is none of the protocol's, if there is nothing more to be known of it.
  func readHead(_ call: Call, _ head: ResponseHead) throws(RPCError) -> StreamBeginning

  /// The error that an answer of ``StreamBeginning/failure`` is.
  ///
  /// - Parameter body: its beginning.
  func readFailure(_ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock) -> RPCError

  /// How the stream ended; trailing metadata goes to the call.
  ///
  /// - Parameters:
  ///   - end: the payload of the envelope that ended it, decompressed; nil when there was none.
  ///   - head: fields of the answer's head, for an end that stands there; nil when messages came.
  /// - Returns: nil for a call that went well.
  func readEnd(_ call: Call, _ end: Span<UInt8>?, head: FieldBlock?, trailers: FieldBlock) -> RPCError?
}

extension StreamBackend {
  func requestForm(_ call: Call, _ request: UpstreamRequest) throws(RPCError) -> MessageSink.Form { .envelopes }

  func replyForm(_ call: Call, _ head: ResponseHead) throws(RPCError) -> MessageSource.Form {
    guard let dialect else { throw RPCError(.internal, "the upstream's protocol has no envelopes") }
    return .envelopes(dialect)
  }
}

/// How a body that is read holds messages.
struct MessageSource {
  enum Form {
    case envelopes(EnvelopeDialect)
    /// Envelopes in base64.
    case text(EnvelopeDialect)
    case other(any MessageReader)
  }

  var form: Form
  /// Of the messages.
  var codec: MessageCodec
  /// Of the messages that are flagged as compressed.
  var coding = ContentCoding.identity
}

/// How a body that is written holds messages.
struct MessageSink {
  enum Form {
    case envelopes
    /// Envelopes in base64.
    case text
    case other(any MessageWriter)
  }

  var form: Form
  /// Of the messages.
  var codec: MessageCodec
}

/// What the head of an upstream's answer says of the rest.
enum StreamBeginning {
  /// Messages follow, compressed ones in this coding.
  case messages(ContentCoding)
  /// The status stands in the head, so that probably nothing follows; if something does, the head's status counts for
  /// nothing.
  case end(ContentCoding)
  /// It is no stream: an error in the protocol's other form, or one of HTTP.
  case failure
}

/// Takes a body that is no envelopes apart into messages; one for each call and direction.
protocol MessageReader: AnyObject {
  /// The next message that is whole, its bytes taken from the input; nil when more is needed.
  func next(_ input: inout ByteBuffer, _ call: Call) throws(RPCError) -> Payload?
  /// The body is complete; called until it gives nil.
  func finish(_ input: inout ByteBuffer, _ call: Call) throws(RPCError) -> Payload?
  /// Whether what was read said that nothing follows, however long the body stays open.
  var isOver: Bool { get }
}

extension MessageReader {
  var isOver: Bool { false }
}

/// Writes a body that is no envelopes; one for each call and direction.
protocol MessageWriter: AnyObject {
  func write(_ message: Payload, _ call: Call, into output: inout ByteBuffer) throws(RPCError)
  /// There are no further messages of a request.
  func finish(_ call: Call) throws(RPCError)
}

extension MessageWriter {
  func finish(_ call: Call) throws(RPCError) {}
}
