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
