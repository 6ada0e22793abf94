import Bytes

/// Writes the form that a path has for a server.
enum PathNormalizer {
  /// Writes the plain form of a path: unreserved characters, colons and slashes decoded, dot segments and a slash at the
  /// end taken out, and what else the reading says. Case stays. Escapes are decoded once, unless the reading decodes none.
  ///
  /// - Parameter output: replaced.
  /// - Returns: whether a dot segment was taken out.
  static func write(_ path: Span<UInt8>, _ reading: PathReading, into output: inout ByteBuffer) -> Bool {
    output.removeAll()
    output.append(UInt8(ascii: "/"))
    // Offset of the current segment's first byte in the output; the byte before it is a slash.
    var segment = 1
    var index = !path.isEmpty && path[0] == UInt8(ascii: "/") ? 1 : 0
    var isInParameter = false
    var hadDots = false
    while index < path.count {
      var byte = path[index]
      var isSlash = byte == UInt8(ascii: "/")
      var width = 1
      if byte == UInt8(ascii: "%"), reading.decodings > 0, let decoded = escape(path, at: index) {
        switch decoded {
        case UInt8(ascii: "/"): isSlash = reading.splitsAtEscapedSlashes
        case UInt8(ascii: "\\"): isSlash = reading.splitsAtBackslashes
        default:
          // A colon may begin a verb. An escaped semicolon begins no parameter: it is escaped for that.
          if PercentCoding.isUnreserved(decoded) || decoded == UInt8(ascii: ":") { (byte, width) = (decoded, 3) }
        }
        if isSlash { width = 3 }
      } else if byte == UInt8(ascii: "\\") {
        isSlash = reading.splitsAtBackslashes
      }
      index &+= width
      if isSlash {
        if close(&segment, &output, merges: reading.mergesSlashes) { hadDots = true }
        isInParameter = false
      } else if byte == UInt8(ascii: ";"), reading.cutsParameters {
        isInParameter = true
      } else if !isInParameter {
        output.append(byte)
      }
    }
    if close(&segment, &output, merges: true) { hadDots = true }
    if output.count > 1 { output.truncate(to: output.count - 1) }
    return hadDots
  }

  /// Decodes all escapes, but for those of slashes where they are data.
  static func decode(_ path: Span<UInt8>, keepingSlashes: Bool, into output: inout ByteBuffer) {
    output.removeAll()
    var index = 0
    while index < path.count {
      if let byte = escape(path, at: index), !keepingSlashes || byte != UInt8(ascii: "/") {
        output.append(byte)
        index &+= 3
      } else {
        output.append(path[index])
        index &+= 1
      }
    }
  }

  /// The byte of an escape that begins here.
  static func escape(_ path: Span<UInt8>, at index: Int) -> UInt8? {
    guard path[index] == UInt8(ascii: "%"), path.count &- index >= 3,
      let high = ASCII.hexadecimalValue(path[index &+ 1]), let low = ASCII.hexadecimalValue(path[index &+ 2])
    else { return nil }
    return high << 4 | low
  }

  /// Ends the segment with a slash, unless it is a dot segment, or empty where that says nothing.
  ///
  /// - Returns: whether it was a dot segment.
  private static func close(_ segment: inout Int, _ output: inout ByteBuffer, merges: Bool) -> Bool {
    let length = output.count - segment
    if length == 0, merges { return false }
    let isDots =
      length > 0 && length <= 2 && output[segment] == UInt8(ascii: ".")
      && output[output.count - 1] == UInt8(ascii: ".")
    guard isDots else {
      output.append(UInt8(ascii: "/"))
      segment = output.count
      return false
    }
    if length == 2, segment > 1 {
      segment -= 1
      while output[segment - 1] != UInt8(ascii: "/") { segment -= 1 }
    }
    output.truncate(to: segment)
    return true
  }
}
