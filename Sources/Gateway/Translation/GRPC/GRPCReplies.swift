import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// Reads the answers of gRPC and gRPC-Web upstreams, which differ in where the status stands.
struct GRPCReplies {
  let isWeb: Bool
  let codec: MessageCodec

  private var dialect: EnvelopeDialect { isWeb ? .grpcWeb : .grpc }

  func readHead(_ call: Call, _ head: ResponseHead) throws(RPCError) -> StreamBeginning {
    call.replyMetadata.append(contentsOf: head.fields)
    guard head.status == 200 else { return .failure }
    let hasStatus = head.fields.contains(.grpcStatus)
    if !hasStatus { try GRPCContentType.check(head.fields, isWeb: isWeb, codec: codec) }
    let coding = try call.replyMessageCoding(head, .grpcEncoding)
    return hasStatus ? .end(coding) : .messages(coding)
  }

  /// The error of an answer with another HTTP status: gRPC's own if it says one, else what the status means.
  func readFailure(_ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock) -> RPCError {
    call.replyTrailers.append(contentsOf: trailers)
    GRPCStatus.removeFields(from: call.replyTrailers)
    for fields in [trailers, head.fields] {
      if case .error(let error) = GRPCStatus.read(fields) { return error }
    }
    return RPCError(
      GRPCStatus.code(ofHTTPStatus: head.status), "the upstream answered with status \(head.status)",
      logDetail: String(repairing: body.extracting(0..<min(body.count, 256))))
  }

  func readEnd(_ call: Call, _ end: Span<UInt8>?, head: FieldBlock?, trailers: FieldBlock) -> RPCError? {
    let fields = call.worker.takeFields()
    defer { call.worker.give(fields) }
    if let end {
      do throws(RPCError) { try GRPCWebTrailers.read(end, into: fields) } catch { return error }
    } else {
      fields.append(contentsOf: trailers)
    }
    var outcome = GRPCStatus.read(fields)
    if case .absent = outcome, let head {
      // Trailers-Only: what stands in the head is trailing metadata.
      outcome = GRPCStatus.read(head)
      fields.append(contentsOf: head)
      call.replyMetadata.removeAll()
    }
    call.replyTrailers.append(contentsOf: fields)
    GRPCStatus.removeFields(from: call.replyTrailers)
    switch outcome {
    case .ok: return nil
    case .error(let error): return error
    case .absent: return RPCError(.unknown, "the upstream's answer has no grpc-status")
    }
  }

  /// Reads the whole answer of a unary call. An error that it ends with wins over whatever else is wrong with it.
  func read(
    _ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError) {
    let coding: ContentCoding
    var isEndInHead = false
    switch try readHead(call, head) {
    case .failure: throw readFailure(call, head, body, trailers: trailers)
    case .messages(let its): coding = its
    case .end(let its):
      coding = its
      isEndInHead = body.isEmpty
    }
    let found: EnvelopedBody
    do throws(RPCError) {
      found = try EnvelopedBody(
        body, dialect, .response, maximumMessage: call.replyMessageLimit, hasCoding: coding != .identity,
        needsEnd: !isEndInHead)
    } catch {
      throw isWeb ? error : readEnd(call, nil, head: nil, trailers: trailers) ?? error
    }
    if let error = try unaryEnd(call, found, body, coding, isEndInHead ? head.fields : nil, trailers) { throw error }
    guard found.messages == 1 else {
      throw StreamRelay.wrongCount(.response, found.messages == 0 ? "none" : "more than one")
    }
    payload.codec = codec
    if found.isCompressed, !found.message.isEmpty { payload.coding = coding }
    payload.buffer.append(body.extracting(found.message))
  }

  private func unaryEnd(
    _ call: Call, _ found: EnvelopedBody, _ body: Span<UInt8>, _ coding: ContentCoding, _ head: FieldBlock?,
    _ trailers: FieldBlock
  ) throws(RPCError) -> RPCError? {
    guard let range = found.end else { return readEnd(call, nil, head: head, trailers: trailers) }
    guard found.isEndCompressed, !range.isEmpty else {
      return readEnd(call, body.extracting(range), head: nil, trailers: trailers)
    }
    var plain = ByteBuffer()
    try call.decompressReply(body.extracting(range), as: coding, into: &plain)
    return readEnd(call, plain.span, head: nil, trailers: trailers)
  }
}
