import Bytes
import HTTPModel
import RPC

/// Which fields of a head are the application's, to be carried across a translation, and which belong to the framing,
/// coding or protocol of one side.
enum MetadataCarrying {
  /// Copies the caller's metadata to an upstream request that is written anew.
  ///
  /// Hop-by-hop fields were removed when the head was read.
  static func copyRequest(_ fields: FieldBlock, to target: FieldBlock) {
    for index in fields.indices {
      let entry = fields.entry(at: index)
      guard !entry.isRemoved else { continue }
      switch entry.name {
      case .host, .accept, .acceptEncoding, .contentEncoding, .contentLength, .contentMD5, .contentType, .digest,
        .connectAcceptEncoding, .connectContentEncoding, .connectProtocolVersion, .connectTimeoutMs, .grpcTimeout,
        .grpcAcceptEncoding, .grpcEncoding, .grpcMessage, .grpcStatus, .grpcStatusDetailsBin, .ifNoneMatch, .range:
        continue
      case .other where fields.withName(at: index, { isAboutOneSide($0) || UnknownFieldsReport.isRequest($0) }):
        continue
      default:
        Metadata.carry(fields, at: index, to: target)
      }
    }
  }

  /// With If-None-Match the other condition that asks for no answer: a call has no place for "not modified".
  private static func isAboutOneSide(_ name: Span<UInt8>) -> Bool {
    Metadata.isReserved(name) || Metadata.isKeptForGRPC(name)
      || ASCII.equalIgnoringCase(name, "if-modified-since")
  }

  /// Copies an upstream's leading metadata to an answer that is written anew.
  ///
  /// What describes the old body is left out; a strong entity tag becomes a weak one (RFC 9110 section 8.8.1).
  static func copyReply(_ fields: FieldBlock, to target: FieldBlock) {
    for index in fields.indices {
      let entry = fields.entry(at: index)
      guard !entry.isRemoved else { continue }
      switch entry.name {
      case .acceptRanges, .contentEncoding, .contentLength, .contentMD5, .contentType, .digest, .server,
        .connectAcceptEncoding, .connectContentEncoding, .connectProtocolVersion, .connectTimeoutMs, .allow,
        .grpcAcceptEncoding, .grpcEncoding, .grpcMessage, .grpcStatus, .grpcStatusDetailsBin, .grpcTimeout:
        continue
      case .etag:
        let tag = fields.text(at: index)
        target.append(.etag, tag.hasPrefix("W/") ? tag : "W/\(tag)")
      case .other
      where fields.withName(
        at: index, { Metadata.isReserved($0) || ASCII.equalIgnoringCase($0, "content-range") }):
        continue
      default:
        Metadata.carry(fields, at: index, to: target)
      }
    }
  }

  /// Copies trailing metadata as `Trailer-` headers: framing, routing, cookie and auth names stay behind.
  static func copyTrailers(_ trailers: FieldBlock, to target: FieldBlock) {
    for index in trailers.indices where isTrailingMetadata(trailers, index) {
      Metadata.carry(trailers, at: index, to: target, prefix: "trailer-")
    }
  }
}
