import Bytes
import HTTPModel
import RPC

extension MetadataCarrying {
  /// Copies trailing metadata to where trailers have a place of their own: framing, routing, cookie and auth names, and
  /// what belongs to a protocol, stay behind.
  static func copyTrailingMetadata(_ trailers: FieldBlock, to target: FieldBlock) {
    for index in trailers.indices where isTrailingMetadata(trailers, index) {
      Metadata.carry(trailers, at: index, to: target)
    }
  }

  static func isTrailingMetadata(_ trailers: FieldBlock, _ index: Int) -> Bool {
    let entry = trailers.entry(at: index)
    guard !entry.isRemoved else { return false }
    switch entry.name {
    case .other: return !trailers.withName(at: index) { Metadata.isReserved($0) }
    case .retryAfter, .etag, .location, .xRequestId, .via, .vary, .date: return true
    default: return false
    }
  }

  /// Looks at the binary metadata of a request to a gRPC service, where every name in `-bin` has base64 (gRPC over
  /// HTTP/2, Custom-Metadata); some libraries end the whole stream over another value.
  ///
  /// A REST caller knows nothing of that: its field is taken out.
  /// - Throws: `invalid_argument` with the name, to callers who speak RPC.
  static func checkBinary(_ fields: FieldBlock, from face: FaceKind) throws(RPCError) {
    for index in fields.indices {
      let entry = fields.entry(at: index)
      guard entry.name == .other, !entry.isRemoved, fields.withName(at: index, { Metadata.isBinary($0) }),
        !fields.withValue(at: index, { Metadata.isBase64($0) })
      else { continue }
      guard face == .rest else {
        throw RPCError(
          .invalidArgument, "the metadata \(fields.name(at: index)) is no base64, as values of names in -bin are")
      }
      fields.remove(at: index)
    }
  }

  /// Removes fields whose values gRPC does not allow: bytes that are not printable ASCII (gRPC over HTTP/2,
  /// ASCII-Value). Some peers end the whole connection over one.
  static func removeUnprintable(from fields: FieldBlock) {
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      let isPrintable = fields.withValue(at: index) { value in
        for at in value.indices where value[at] < 0x20 || value[at] > 0x7E { return false }
        return true
      }
      if !isPrintable { fields.remove(at: index) }
    }
  }
}
