public import Bytes
public import HTTPModel

/// The trailers of gRPC-Web: the last envelope of a body, its payload HTTP/1 field lines without a blank line at the
/// end (gRPC-Web protocol, HTTP wire protocols).
public enum GRPCWebTrailers {
  /// Fields beyond which the trailers are refused.
  public static let maximumFields = 256

  /// Appends the whole envelope, not compressed; names in lower case.
  public static func write(_ trailers: FieldBlock, into output: inout ByteBuffer) {
    let offset = EnvelopeHead.open(&output)
    for index in trailers.indices where !trailers.entry(at: index).isRemoved {
      trailers.withName(at: index) { name in
        output.reserve(name.count)
        for at in name.indices { output.append(ASCII.lowercased(name[at])) }
      }
      output.append(": ")
      trailers.withValue(at: index) { output.append($0) }
      output.append("\r\n")
    }
    EnvelopeHead.close(&output, openedAt: offset, flags: EnvelopeHead.trailers)
  }

  /// Reads the payload, decompressed. Lines may end with LF alone, the last one may lack its end, blank lines count
  /// for nothing; names are taken in any case and become lower case.
  ///
  /// - Parameter trailers: gets all fields that may stand in trailers; when something is thrown, those before the fault.
  /// - Throws: `internal` for a line that is no field, and for too many.
  public static func read(_ payload: Span<UInt8>, into trailers: FieldBlock) throws(RPCError) {
    var name = ByteBuffer()
    var start = 0
    var fields = 0
    while start < payload.count {
      var end = start
      while end < payload.count, payload[end] != UInt8(ascii: "\n") { end &+= 1 }
      var line = start..<end
      if !line.isEmpty, payload[end &- 1] == UInt8(ascii: "\r") { line = start..<end &- 1 }
      if !line.isEmpty {
        fields += 1
        guard fields <= maximumFields else {
          throw RPCError(.internal, "gRPC-Web trailers have more than \(maximumFields) fields")
        }
        try read(line: payload.extracting(line), &name, into: trailers)
      }
      start = end &+ 1
    }
  }

  private static func read(
    line: Span<UInt8>, _ name: inout ByteBuffer, into trailers: FieldBlock
  ) throws(RPCError) {
    name.removeAll()
    var at = 0
    while at < line.count, line[at] != UInt8(ascii: ":") {
      name.append(ASCII.lowercased(line[at]))
      at &+= 1
    }
    var from = at &+ 1
    var to = line.count
    while from < to, isBlank(line[from]) { from &+= 1 }
    while to > from, isBlank(line[to &- 1]) { to &-= 1 }
    guard at < line.count, FieldSyntax.isToken(name.span), FieldSyntax.isValue(line.extracting(from..<to)) else {
      throw RPCError(
        .internal, "malformed gRPC-Web trailers",
        logDetail: String(repairing: line.extracting(first: min(line.count, 256))))
    }
    if Metadata.isForbiddenInTrailers(name.span) { return }
    trailers.append(name.span, line.extracting(from..<to))
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
