public import Bytes

/// The query of a Connect GET: one message in the target of a call without side effects.
public struct ConnectGetQuery: Sendable, Equatable {
  public var codec: MessageCodec
  /// The content coding of the message; empty for none.
  public var compression: String

  public init(codec: MessageCodec, compression: String = "") {
    self.codec = codec
    self.compression = compression
  }

  /// Reads a query without its `?`; parameters in any order, unknown ones ignored.
  ///
  /// The message is appended as it was before base64 and escaping, still compressed. Base64 is taken in both alphabets,
  /// padded or not, and with a blank where an unescaped plus was (old clients send the standard alphabet as it is).
  ///
  /// - Throws: 415 without a known `encoding`; `invalid_argument` for another version than v1, no message, one of
  ///   these parameters given twice, a broken escape or broken base64 in them.
  public static func parse(
    _ query: Span<UInt8>, message: inout ByteBuffer
  ) throws(RPCError) -> ConnectGetQuery {
    let found = try ranges(query)
    if let version = found.connect {
      guard try value(query, version, named: "connect") == "v1" else {
        throw RPCError(.invalidArgument, "connect must be \"v1\"")
      }
    }
    guard let encoding = found.encoding else { throw .unsupportedMediaType("missing encoding parameter") }
    guard let codec = MessageCodec(rawValue: try value(query, encoding, named: "encoding")) else {
      throw .unsupportedMediaType("unknown encoding")
    }
    var compression = ""
    if let range = found.compression { compression = try value(query, range, named: "compression") }
    guard let payload = found.message else { throw RPCError(.invalidArgument, "missing message parameter") }
    var isBase64 = false
    if let range = found.base64 { isBase64 = try value(query, range, named: "base64") == "1" }
    try decode(query.extracting(payload), isBase64: isBase64, into: &message)
    return ConnectGetQuery(codec: codec, compression: compression == "identity" ? "" : compression)
  }

  /// Where the values of the protocol's parameters lie.
  private struct Ranges {
    var connect: Range<Int>?
    var base64: Range<Int>?
    var compression: Range<Int>?
    var encoding: Range<Int>?
    var message: Range<Int>?
  }

  private static func ranges(_ query: Span<UInt8>) throws(RPCError) -> Ranges {
    var found = Ranges()
    var start = 0
    while start < query.count {
      var end = start
      var equals: Int?
      while end < query.count, query[end] != UInt8(ascii: "&") {
        if equals == nil, query[end] == UInt8(ascii: "=") { equals = end }
        end &+= 1
      }
      let value = min((equals ?? end) + 1, end)..<end
      try note(query.extracting(start..<(equals ?? end)), value, in: &found)
      start = end &+ 1
    }
    return found
  }

  private static func note(_ name: Span<UInt8>, _ value: Range<Int>, in found: inout Ranges) throws(RPCError) {
    var decoded = ByteBuffer()
    guard PercentCoding.decode(name, as: .query, into: &decoded) == nil else { return }
    let isFirst: Bool
    switch decoded.count {
    case 7 where ASCII.equal(decoded.span, "connect"): isFirst = set(&found.connect, value)
    case 6 where ASCII.equal(decoded.span, "base64"): isFirst = set(&found.base64, value)
    case 11 where ASCII.equal(decoded.span, "compression"): isFirst = set(&found.compression, value)
    case 8 where ASCII.equal(decoded.span, "encoding"): isFirst = set(&found.encoding, value)
    case 7 where ASCII.equal(decoded.span, "message"): isFirst = set(&found.message, value)
    default: return
    }
    // A second one would be read differently by different servers.
    if !isFirst {
      throw RPCError(.invalidArgument, "parameter given twice: \(String(repairing: decoded.span))")
    }
  }

  private static func set(_ range: inout Range<Int>?, _ value: Range<Int>) -> Bool {
    defer { range = value }
    return range == nil
  }

  private static func value(
    _ query: Span<UInt8>, _ range: Range<Int>, named name: StaticString
  ) throws(RPCError) -> String {
    var decoded = ByteBuffer()
    guard PercentCoding.decode(query.extracting(range), as: .query, into: &decoded) == nil else {
      throw RPCError(.invalidArgument, "\(name) has a broken percent-escape")
    }
    return String(repairing: decoded.span)
  }

  private static func decode(
    _ payload: Span<UInt8>, isBase64: Bool, into message: inout ByteBuffer
  ) throws(RPCError) {
    var text = ByteBuffer()
    guard PercentCoding.decode(payload, as: .query, into: &text) == nil else {
      throw RPCError(.invalidArgument, "message has a broken percent-escape")
    }
    guard isBase64 else {
      message.append(text.span)
      return
    }
    for offset in 0..<text.count where text[offset] == UInt8(ascii: " ") { text[offset] = UInt8(ascii: "+") }
    let before = message.count
    guard Base64.decode(text.span, into: &message) else {
      message.truncate(to: before)
      throw RPCError(.invalidArgument, "message is no base64")
    }
  }
}
