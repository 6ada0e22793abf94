import Bytes
import Compression
import HTTPModel
import RPC

/// Streams of Connect: the answer's end is its last envelope.
extension ConnectFace: StreamFace {
  var endsAnywhere: Bool { false }

  /// Of a caller that asked for a stream.
  private var codec: MessageCodec {
    if case .connectStreaming(let codec)? = request { codec } else { .proto }
  }

  func source(_ call: Call) throws(RPCError) -> MessageSource {
    MessageSource(
      form: .envelopes(.connect), codec: codec,
      coding: try call.messageCoding(.connectContentEncoding, acceptField: "connect-accept-encoding"))
  }

  func sink(_ call: Call) throws(RPCError) -> MessageSink { MessageSink(form: .envelopes, codec: codec) }

  func writeHead(_ call: Call, coding: ContentCoding, into fields: FieldBlock) {
    MetadataCarrying.copyReply(call.replyMetadata, to: fields)
    fields.append(.contentType, codec.streamingContentType)
    if coding != .identity { fields.append(.connectContentEncoding, coding.rawValue) }
  }

  func writeEnd(_ call: Call, _ error: RPCError?, into body: inout ByteBuffer, trailers: FieldBlock) {
    let metadata = FieldBlock()
    MetadataCarrying.copyTrailingMetadata(call.replyTrailers, to: metadata)
    let start = EnvelopeHead.open(&body)
    ConnectEndOfStream.write(error: error, trailers: metadata, into: &body)
    EnvelopeHead.close(&body, openedAt: start, flags: EnvelopeHead.endOfStream)
  }
}
