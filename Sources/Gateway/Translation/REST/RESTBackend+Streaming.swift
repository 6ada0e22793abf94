import Bytes
import Compression
import Configuration
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// Streams of a REST service: one request, made of one message or uploaded as it comes, and one answer that holds many
/// messages or one.
extension RESTBackend: StreamBackend {
  var stream: (any StreamBackend)? { self }

  var dialect: EnvelopeDialect? { nil }

  func requestForm(_ call: Call, _ request: UpstreamRequest) throws(RPCError) -> MessageSink.Form {
    guard let first = route.bindings.first else {
      throw RPCError(.unimplemented, "the method has no REST binding, and its stage is rest")
    }
    if route.reverseBindings.isEmpty, let fault = first.reverseFault { throw RPCError(.unimplemented, fault) }
    return .other(RESTStreamRequest(self, request))
  }

  /// The writer of ``requestForm(_:_:)`` has done it.
  func writeRequest(_ call: Call, coding: ContentCoding, into request: UpstreamRequest) {}

  func readHead(_ call: Call, _ head: ResponseHead) throws(RPCError) -> StreamBeginning {
    call.replyMetadata.append(contentsOf: head.fields)
    Metadata.splitTrailers(call.replyMetadata, into: call.replyTrailers)
    return (200..<300).contains(head.status) ? .messages(.identity) : .failure
  }

  func replyForm(_ call: Call, _ head: ResponseHead) throws(RPCError) -> MessageSource.Form {
    .other(try RESTStreamAnswer(route, call, head))
  }

  func readFailure(_ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock) -> RPCError {
    Metadata.appendTrailers(trailers, to: call.replyTrailers)
    if (300..<400).contains(head.status) { return redirect(head) }
    var plain = ByteBuffer()
    do throws(RPCError) {
      let coding = body.isEmpty ? .identity : try call.replyCoding(head)
      if coding == .identity { plain.append(body) } else { try call.decompressReply(body, as: coding, into: &plain) }
    } catch {
      // The status says enough.
      plain.removeAll()
    }
    let (codec, format) = (route.profileCodec, route.errorFormat)
    guard let type = head.fields.firstIndex(of: .contentType) else {
      return RESTErrors.read(status: head.status, contentType: nil, body: plain.span, codec: codec, format: format)
    }
    return plain.withSpan { body in
      head.fields.withValue(at: type) { type in
        RESTErrors.read(status: head.status, contentType: type, body: body, codec: codec, format: format)
      }
    }
  }

  /// An error stands in the body, and is thrown by who reads that.
  func readEnd(_ call: Call, _ end: Span<UInt8>?, head: FieldBlock?, trailers: FieldBlock) -> RPCError? {
    Metadata.appendTrailers(trailers, to: call.replyTrailers)
    return nil
  }
}
