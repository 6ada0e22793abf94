public import Bytes
public import HTTPModel

/// The last envelope of a stream (Connect protocol, EndStreamResponse): how it ended, with trailing metadata.
public enum ConnectEndOfStream {
  /// Appends the JSON of an end: `{}` for success without metadata. The envelope's head is the caller's.
  public static func write(error: RPCError?, trailers: FieldBlock?, into output: inout ByteBuffer) {
    output.append(UInt8(ascii: "{"))
    if let error {
      output.append("\"error\":")
      ConnectErrorBody.write(error, into: &output)
    }
    if let trailers, !trailers.isEmpty {
      if error != nil { output.append(UInt8(ascii: ",")) }
      output.append("\"metadata\":{")
      writeMetadata(trailers, into: &output)
      output.append(UInt8(ascii: "}"))
    }
    output.append(UInt8(ascii: "}"))
  }

  /// One member for each name, in order of first appearance, its values in an array.
  private static func writeMetadata(_ trailers: FieldBlock, into output: inout ByteBuffer) {
    var values: [String: [String]] = [:]
    var names: [String] = []
    for index in trailers.indices where !trailers.entry(at: index).isRemoved {
      let name = trailers.name(at: index).lowercased()
      if values[name] == nil { names.append(name) }
      values[name, default: []].append(trailers.text(at: index))
    }
    for (index, name) in names.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      JSONText.append(name, into: &output)
      output.append(":[")
      for (index, value) in (values[name] ?? []).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        JSONText.append(value, into: &output)
      }
      output.append(UInt8(ascii: "]"))
    }
  }

  /// Reads an end of stream, decompressed.
  ///
  /// An `error` that is null is none; one without a known code is `unknown`. Metadata that may not stand in a field,
  /// or belongs to the protocol, is dropped; a bare string counts as a list of one.
  ///
  /// - Parameter trailers: gets the metadata, unless the end is malformed.
  /// - Returns: the error that it carries, `internal` for a malformed one.
  public static func read(
    _ json: Span<UInt8>, trailers: FieldBlock? = nil
  ) -> (error: RPCError?, isMalformed: Bool) {
    do throws(JSONFault) {
      var scanner = JSONScanner(json)
      var found = Contents()
      try contents(&scanner, into: &found)
      for (name, value) in found.metadata { trailers?.append(name, value) }
      return (found.error, false)
    } catch {
      return (
        RPCError(
          .internal, "malformed end of stream", logDetail: ConnectErrorBody.excerpt(json)),
        true
      )
    }
  }

  private struct Contents {
    var error: RPCError?
    var metadata: [(name: String, value: String)] = []
  }

  private static func contents(_ scanner: inout JSONScanner, into found: inout Contents) throws(JSONFault) {
    try scanner.expect(UInt8(ascii: "{"))
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      switch (name, scanner.peek()) {
      case ("error", UInt8(ascii: "{")):
        let members = try ConnectErrorBody.members(&scanner)
        found.error = RPCError(members.code ?? .unknown, members.message ?? "", details: members.details)
      case ("error", UInt8(ascii: "n")):
        try scanner.skipValue()
        found.error = nil
      case ("error", _):
        throw JSONFault()
      case ("metadata", UInt8(ascii: "{")):
        try metadata(&scanner, into: &found)
      default:
        try scanner.skipValue()
      }
    }
    try scanner.finish()
  }

  private static func metadata(_ scanner: inout JSONScanner, into found: inout Contents) throws(JSONFault) {
    try scanner.expect(UInt8(ascii: "{"))
    var isFirstMember = true
    while let name = try scanner.nextMember(&isFirstMember) {
      if scanner.peek() != UInt8(ascii: "[") {
        if let value = try scanner.stringIfAny() { note(name, value, in: &found) }
        continue
      }
      try scanner.expect(UInt8(ascii: "["))
      var isFirst = true
      while try scanner.nextElement(&isFirst) {
        if let value = try scanner.stringIfAny() { note(name, value, in: &found) }
      }
    }
  }

  private static func note(_ name: String, _ value: String, in found: inout Contents) {
    let nameBytes = Array(name.utf8)
    guard FieldSyntax.isToken(nameBytes.span), FieldSyntax.isValue(Array(value.utf8).span),
      !Metadata.isReserved(nameBytes.span), !Metadata.isForbiddenInTrailers(nameBytes.span)
    else { return }
    found.metadata.append((name, value))
  }
}
