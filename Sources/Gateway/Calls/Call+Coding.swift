import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// Content codings of the two sides.
extension Call {
  /// Answers smaller than this are not worth compressing.
  private static let compressionMinimum = 1024
  private static let supported = "gzip, br, zstd, identity"

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
  func coding(named name: String) throws(RPCError) -> ContentCoding {
    if name.isEmpty { return .identity }
    if let coding = ContentCoding(name: Array(name.utf8).span) { return coding }
    throw RPCError(
      .unimplemented, "unknown content coding \"\(name.prefix(40))\"; supported: \(Self.supported)",
      httpStatus: face.kind == .rest ? 415 : nil, headers: [("accept-encoding", Self.supported)])
  }

  func decompress(_ body: Span<UInt8>, as coding: ContentCoding, into output: inout ByteBuffer) throws(RPCError) {
    do throws(CompressionError) {
      try Decompressor.decompress(body, as: coding, limit: worker.limits.message, into: &output)
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
  }

  /// The coding of an upstream's answer.
  func replyCoding(_ head: ResponseHead) throws(RPCError) -> ContentCoding {
    guard let name = Self.contentEncoding(head.fields) else { return .identity }
    if let coding = ContentCoding(name: Array(name.utf8).span) { return coding }
    throw RPCError(.internal, "the upstream's answer has an unknown content coding", httpStatus: 502, logDetail: name)
  }

  func decompressReply(_ body: Span<UInt8>, as coding: ContentCoding, into output: inout ByteBuffer) throws(RPCError) {
    do throws(CompressionError) {
      try Decompressor.decompress(body, as: coding, limit: worker.limits.message, into: &output)
    } catch {
      throw RPCError(
        .internal, "the upstream's answer cannot be decompressed", httpStatus: 502, logDetail: "\(error)")
    }
  }

  /// Compresses an answer of our own making by what the caller accepts.
  func compress(_ answer: Answer) {
    guard answer.body.count >= Self.compressionMinimum else { return }
    answer.fields.vary(by: "Accept-Encoding")
    var accepted: [String] = []
    for index in head.fields.indices {
      let entry = head.fields.entry(at: index)
      if entry.name == .acceptEncoding, !entry.isRemoved { accepted.append(head.fields.text(at: index)) }
    }
    guard !accepted.isEmpty, let coding = AcceptEncoding.choose(accepted, from: [.gzip, .br, .zstd, .identity]),
      coding != .identity
    else { return }
    var small = ByteBuffer()
    do throws(CompressionError) {
      try answer.body.withSpan { (body) throws(CompressionError) in
        try Compressor.compress(body, as: coding, into: &small)
      }
    } catch {
      // The answer as it is serves the caller as well.
      worker.log(.warning, "an answer could not be compressed: \(error)")
      return
    }
    guard small.count < answer.body.count else { return }
    swap(&answer.body, &small)
    answer.fields.append(.contentEncoding, coding.rawValue)
  }

}
