import Bytes
import Compression
import ProtoJSON
import ProtobufSchema
import RPC

extension Payload {
  /// The message in another codec and not compressed; the same object when nothing has to change.
  ///
  /// Whether it is the request or the reply of the call is told by ``Call/isReplying``: only a request's faults are
  /// the client's.
  func converted(to target: MessageCodec, _ call: Call) throws(RPCError) -> Payload {
    guard codec != target || coding != .identity else { return self }
    let result = Payload()
    result.codec = target
    guard coding != .identity else {
      try withSpan { (bytes) throws(RPCError) in
        try MessageConversion.convert(bytes, to: target, call, into: &result.buffer)
      }
      return result
    }
    var plain = ByteBuffer()
    try withSpan { (bytes) throws(RPCError) in
      try MessageConversion.decompress(bytes, as: coding, call, into: &plain)
    }
    if codec == target {
      swap(&result.buffer, &plain)
    } else {
      try MessageConversion.convert(plain.span, to: target, call, into: &result.buffer)
    }
    return result
  }

  /// The message in a codec, as compressed as it is when that may stay.
  ///
  /// - Parameter mayStay: whether whom it is for reads this coding.
  func kept(
    in target: MessageCodec, _ call: Call, _ mayStay: (ContentCoding) -> Bool = { _ in true }
  ) throws(RPCError) -> Payload {
    codec == target && (coding == .identity || mayStay(coding)) ? self : try converted(to: target, call)
  }

  /// An empty body is no JSON; it is refused before anything is sent (Connect protocol; an empty proto message is fine).
  func checkJSON(_ call: Call) throws(RPCError) {
    if buffer.isEmpty { throw RPCError(.invalidArgument, "the body is empty; an empty message is {}") }
  }
}

/// From codec to codec, for the message that the call reads at present.
enum MessageConversion {
  /// Appends the message of a route in its other codec.
  static func convert(
    _ bytes: Span<UInt8>, to target: MessageCodec, _ call: Call, into output: inout ByteBuffer
  ) throws(RPCError) {
    guard let route = call.route?.plan else { throw RPCError(.internal, "no route") }
    let message = call.isReplying ? route.type.output : route.type.input
    do throws(JSONError) {
      switch target {
      case .proto:
        var outcome = DecodingOutcome()
        try route.codec.decode(bytes, message: message, bound: [], outcome: &outcome, into: &output)
      case .json:
        try route.codec.encode(bytes, message: message, omitting: [], into: &output)
      }
    } catch {
      throw call.isReplying
        ? RPCError(
          .internal, "the upstream's answer does not fit the schema", httpStatus: 502, logDetail: error.message,
          misfit: RPCError.Misfit(path: error.path, reason: error.reason))
        : RPCError.badRequest(field: error.path, error.reason)
    }
  }

  static func decompress(
    _ bytes: Span<UInt8>, as coding: ContentCoding, _ call: Call, into output: inout ByteBuffer
  ) throws(RPCError) {
    if call.isReplying {
      try call.decompressReply(bytes, as: coding, into: &output)
    } else {
      try call.decompress(bytes, as: coding, into: &output)
    }
  }
}
