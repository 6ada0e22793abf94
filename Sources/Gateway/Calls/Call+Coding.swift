import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// Content codings of the two sides.
extension Call {
  static let supported = "gzip, br, zstd, identity"

  /// The coding of the request body.
  func requestCoding() throws(RPCError) -> ContentCoding {
    guard let name = Self.contentEncoding(head.fields) else { return .identity }
    return try coding(named: name)
  }

  /// All of a head's content codings in one text: several are as unknown as a list of them.
  private static func contentEncoding(_ fields: FieldBlock) -> String? {
    guard let first = fields.firstIndex(of: .contentEncoding) else { return nil }
    var text = fields.text(at: first)
    for index in fields.indices where index > first {
      let entry = fields.entry(at: index)
      if entry.name == .contentEncoding, !entry.isRemoved { text += ", " + fields.text(at: index) }
    }
    return text
  }

  /// A coding by its name; an unknown one is the client's fault, told in its protocol.
  ///
  /// - Parameter acceptField: the field in which the protocol lists what is read.
  func coding(named name: String, acceptField: String = "accept-encoding") throws(RPCError) -> ContentCoding {
    if name.isEmpty { return .identity }
    if let coding = ContentCoding(name: Array(name.utf8).span) { return coding }
    throw RPCError(
      .unimplemented, "unknown content coding \"\(name.prefix(40))\"; supported: \(Self.supported)",
      httpStatus: face.kind == .rest ? 415 : nil, headers: [(acceptField, Self.supported)])
  }

  /// The coding of the messages in a request body, which a field of the protocol names.
  func messageCoding(_ field: FieldName, acceptField: String) throws(RPCError) -> ContentCoding {
    guard let index = head.fields.firstIndex(of: field) else { return .identity }
    return try coding(named: head.fields.text(at: index), acceptField: acceptField)
  }

  /// The coding of the messages in an upstream's answer.
  func replyMessageCoding(_ head: ResponseHead, _ field: FieldName) throws(RPCError) -> ContentCoding {
    guard let index = head.fields.firstIndex(of: field) else { return .identity }
    if let coding = head.fields.withValue(at: index, { ContentCoding(name: $0) }) { return coding }
    throw RPCError(
      .internal, "the upstream's answer has an unknown compression", logDetail: head.fields.text(at: index))
  }

  /// Whether the caller reads messages of this coding.
  func callerAccepts(_ coding: ContentCoding) -> Bool { face.acceptedCodings(self).accepts(coding) }

  /// What an upstream may compress its answer with so that it can pass as it is; nil when it will be read here, or when
  /// the caller reads none.
  ///
  /// - Parameter codec: that of the upstream.
  func codingsToPass(_ codec: MessageCodec) -> String? {
    guard replyCodec == codec, !face.readsPlainBody else { return nil }
    let accepted = face.acceptedCodings(self)
    var list = ""
    for (coding, name) in [(ContentCoding.gzip, "gzip"), (.br, "br"), (.zstd, "zstd")] where accepted.accepts(coding) {
      list += list.isEmpty ? name : ", \(name)"
    }
    return list.isEmpty ? nil : list
  }

  /// Appends what a caller compressed. The copy counts against `limits.buffers` until the call ends, unless it is released
  /// before.
  func decompress(_ body: Span<UInt8>, as coding: ContentCoding, into output: inout ByteBuffer) throws(RPCError) {
    let before = output.count
    do throws(CompressionError) {
      try Decompressor.decompress(body, as: coding, limit: requestMessageLimit, into: &output)
    } catch {
      switch error {
      case .tooLarge(let limit):
        throw RPCError(
          .resourceExhausted, "the message is larger than the limit of \(limit) bytes",
          httpStatus: face.kind == .rest ? 413 : nil)
      case .malformed(let reason):
        throw RPCError(.invalidArgument, "the body is no valid \(coding.rawValue): \(reason)")
      }
    }
    try claim(output.count - before)
  }

  /// The coding of an upstream's answer.
  func replyCoding(_ head: ResponseHead) throws(RPCError) -> ContentCoding {
    guard let name = Self.contentEncoding(head.fields) else { return .identity }
    if let coding = ContentCoding(name: Array(name.utf8).span) { return coding }
    throw RPCError(.internal, "the upstream's answer has an unknown content coding", httpStatus: 502, logDetail: name)
  }

  /// Appends what an upstream compressed; counted as in ``decompress(_:as:into:)``.
  func decompressReply(_ body: Span<UInt8>, as coding: ContentCoding, into output: inout ByteBuffer) throws(RPCError) {
    let before = output.count
    do throws(CompressionError) {
      try Decompressor.decompress(body, as: coding, limit: replyMessageLimit, into: &output)
    } catch {
      if case .tooLarge = error { throw UpstreamFailure(kind: .tooLarge, reason: "\(error)").callError }
      throw RPCError(
        .internal, "the upstream's answer cannot be decompressed", httpStatus: 502, logDetail: "\(error)")
    }
    try claim(output.count - before)
  }
}
