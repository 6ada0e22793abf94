package import Bytes

/// Other spellings of a path that a lenient backend may take for the same resource.
package enum PathVariants {
  /// Writes the plain form of a path: unreserved characters, colons and slashes decoded, backslashes as slashes,
  /// doubled slashes, dot segments and a slash at the end taken out. Case stays.
  ///
  /// - Parameters:
  ///   - decodingSlashes: whether `%2F` and `%5C` become slashes too.
  ///   - output: replaced.
  /// - Returns: whether the plain form differs from the path.
  package static func normalized(
    _ path: Span<UInt8>, decodingSlashes: Bool = true, into output: inout ByteBuffer
  ) -> Bool {
    output.removeAll()
    output.append(UInt8(ascii: "/"))
    // Offset of the current segment's first byte in the output; the byte before it is a slash.
    var segment = 1
    var index = 0
    while index < path.count {
      var byte = path[index]
      var width = 1
      if byte == UInt8(ascii: "%"), let decoded = decoded(path, at: index, decodingSlashes) {
        byte = decoded
        width = 3
      }
      index &+= width
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") {
        close(&segment, &output)
      } else {
        output.append(byte)
      }
    }
    close(&segment, &output)
    if output.count > 1 { output.truncate(to: output.count - 1) }
    return !ASCII.equal(output.span, path)
  }

  /// Whether the plain form may differ; false for most paths, whose plain form need then not be written.
  package static func mayDiffer(_ path: Span<UInt8>) -> Bool {
    var before: UInt8 = 0
    for index in path.indices {
      let byte = path[index]
      if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") { return true }
      if before == UInt8(ascii: "/"), byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return true }
      before = byte
    }
    return path.isEmpty || path[0] != UInt8(ascii: "/") || before == UInt8(ascii: "/") && path.count > 1
  }

  /// Ends the segment with a slash, unless it is empty or a dot segment.
  private static func close(_ segment: inout Int, _ output: inout ByteBuffer) {
    let length = output.count - segment
    let isDots =
      length > 0 && length <= 2 && output[segment] == UInt8(ascii: ".")
      && output[output.count - 1] == UInt8(ascii: ".")
    if length == 0 { return }
    guard isDots else {
      output.append(UInt8(ascii: "/"))
      segment = output.count
      return
    }
    if length == 2, segment > 1 {
      segment -= 1
      while output[segment - 1] != UInt8(ascii: "/") { segment -= 1 }
    }
    output.truncate(to: segment)
  }

  private static func decoded(_ path: Span<UInt8>, at index: Int, _ decodingSlashes: Bool) -> UInt8? {
    guard path.count &- index >= 3, let high = ASCII.hexadecimalValue(path[index &+ 1]),
      let low = ASCII.hexadecimalValue(path[index &+ 2])
    else { return nil }
    let byte = high << 4 | low
    if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") { return decodingSlashes ? byte : nil }
    // A colon may begin a verb.
    return PercentCoding.isUnreserved(byte) || byte == UInt8(ascii: ":") ? byte : nil
  }
}

extension RouteTrie {
  /// Whether a path that matched nothing meets a route in its plain form, with `%2F` as a slash or as data.
  ///
  /// Such a request must not reach a fallback: a lenient backend would serve what the route guards.
  package func describesVariant(of path: Span<UInt8>, scratch: inout ByteBuffer) -> Bool {
    if PathVariants.normalized(path, into: &scratch), describes(scratch.span) { return true }
    return PathVariants.normalized(path, decodingSlashes: false, into: &scratch) && describes(scratch.span)
  }
}
