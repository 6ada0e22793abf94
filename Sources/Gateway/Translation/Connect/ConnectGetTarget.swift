import Bytes
import HTTPModel
import RPC

/// The target of a Connect GET as an upstream gets it: the protocol's parameters alone, in the protocol's order, the
/// message in the URL-safe alphabet, so that equal calls are equal to caches.
enum ConnectGetTarget {
  /// Bytes of the longest target that is sent; a longer call is posted. Many servers take no more.
  static let maximum = 8000

  /// Appends the query of the call in its normal form, with its question mark.
  ///
  /// - Returns: what the query says.
  /// - Throws: as ``ConnectGetQuery/parse(_:message:)``; `resource_exhausted` for a message over `limits.request`, which no
  ///   body tells of.
  @discardableResult
  static func write(_ call: Call, into target: inout ByteBuffer) throws(RPCError) -> ConnectGetQuery {
    var message = ByteBuffer()
    let query = try call.head.withQuery { (query) throws(RPCError) in
      try ConnectGetQuery.parse(query, message: &message)
    }
    if let limit = call.passingRequestLimit, message.count > limit { throw call.tooLarge(limit: limit) }
    ConnectGetQuery.write(
      message: message.span, codec: query.codec, compression: query.compression, into: &target)
    return query
  }
}
