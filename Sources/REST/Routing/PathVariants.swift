import Bytes

/// One way in which a server may read a path before it looks for what is meant.
struct PathReading {
  /// How often escapes are decoded: 0, 1 or 2.
  var decodings = 1
  /// Whether `%2F` separates segments.
  var splitsAtEscapedSlashes = true
  /// Whether `\` and `%5C` separate segments.
  var splitsAtBackslashes = true
  /// Whether `;` and what follows it in a segment is a parameter, and no part of the name (RFC 3986 section 3.3).
  var cutsParameters = false
  /// Whether several slashes are one, before dot segments are taken out.
  var mergesSlashes = true

  /// Escaped slashes and backslashes are data.
  static var keepingSlashes: PathReading {
    var reading = PathReading()
    reading.splitsAtEscapedSlashes = false
    reading.splitsAtBackslashes = false
    return reading
  }

  /// Slashes are merged, and that is all.
  static var merging: PathReading {
    var reading = PathReading.keepingSlashes
    reading.decodings = 0
    return reading
  }

  /// The one that sees a dot segment where any other does: each of its liberties makes more of them and hides none.
  static var widest: PathReading {
    var reading = PathReading()
    reading.decodings = 2
    reading.cutsParameters = true
    return reading
  }
}

/// Room for the forms of a path, kept from request to request.
package struct PathScratch: ~Copyable {
  var form = ByteBuffer()
  var decoded = ByteBuffer()

  package init() {}
}

/// Other spellings of a path that a lenient backend may take for the same resource.
package enum PathVariants {
  /// Whether a form of the path may differ from it; false for most paths, whose forms need then not be written.
  package static func mayDiffer(_ path: Span<UInt8>) -> Bool {
    let slash = UInt8(ascii: "/")
    guard !path.isEmpty, path[0] == slash, path.count == 1 || path[path.count &- 1] != slash else { return true }
    // Sixteen bytes at a time, each with the one before it; the first byte is a slash. The last block overlaps.
    guard path.count > 16 else { return mayDiffer(path, from: 1) }
    var at = 1
    while path.count &- at > 16 {
      if mayDiffer(blockOf: path, at: at) { return true }
      at &+= 16
    }
    return mayDiffer(blockOf: path, at: path.count &- 16)
  }

  private static func mayDiffer(_ path: Span<UInt8>, from start: Int) -> Bool {
    for index in start..<path.count {
      let byte = path[index]
      if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: ";") { return true }
      if path[index &- 1] == UInt8(ascii: "/"), byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return true }
    }
    return false
  }

  @inline(__always)
  private static func mayDiffer(blockOf path: Span<UInt8>, at index: Int) -> Bool {
    typealias Block = SIMD16<UInt8>
    typealias Mask = SIMDMask<SIMD16<Int8>>
    precondition(index > 0 && path.count &- index >= 16, "sixteen bytes of the path, and one before them")
    let block = unsafe path.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: Block.self)
    let before = unsafe path.bytes.unsafeLoadUnaligned(fromByteOffset: index &- 1, as: Block.self)
    // Each comparison with its type spelt out: written as one expression they become loops over the lanes.
    let escapes: Mask = block .== Block(repeating: UInt8(ascii: "%"))
    let backslashes: Mask = block .== Block(repeating: UInt8(ascii: "\\"))
    let parameters: Mask = block .== Block(repeating: UInt8(ascii: ";"))
    let slashes: Mask = block .== Block(repeating: UInt8(ascii: "/"))
    let dots: Mask = block .== Block(repeating: UInt8(ascii: "."))
    let begins: Mask = before .== Block(repeating: UInt8(ascii: "/"))
    let marks: Mask = escapes .| backslashes .| parameters
    let pairs: Mask = begins .& (slashes .| dots)
    let all: Mask = marks .| pairs
    let words = unsafe unsafeBitCast(all, to: SIMD2<UInt64>.self)
    return words[0] | words[1] != 0
  }

  /// Whether somebody could see a segment `.` or `..`: written plainly, escaped once or twice, with a parameter, between
  /// slashes of any kind.
  package static func holdsDotSegment(_ path: Span<UInt8>, scratch: inout PathScratch) -> Bool {
    write(path, .widest, &scratch.form, &scratch.decoded)
  }

  /// Whether a form of the path that differs from it has a property, in any reading that a server may have.
  ///
  /// A path so long and so ambiguous that its forms are not worth their time is taken to have it.
  package static func anyForm(
    of path: Span<UInt8>, scratch: inout PathScratch, has property: (Span<UInt8>) -> Bool
  ) -> Bool {
    anyForm(of: path, &scratch.form, &scratch.decoded, property)
  }

  private static func anyForm(
    of path: Span<UInt8>, _ form: inout ByteBuffer, _ decoded: inout ByteBuffer, _ property: (Span<UInt8>) -> Bool
  ) -> Bool {
    let marks = PathMarks(path)
    guard marks.formCount * path.count <= maximumWork else { return true }
    for decodings in marks.decodings {
      for splitsAtEscapedSlashes in marks.choices(marks.hasEscapedSlash) {
        for splitsAtBackslashes in marks.choices(marks.hasBackslash) {
          for mergesSlashes in marks.choices(marks.hasDot && marks.mayHaveEmptySegment) {
            for keepsParameters in marks.choices(marks.hasParameter) {
              var reading = PathReading()
              reading.decodings = decodings
              reading.splitsAtEscapedSlashes = splitsAtEscapedSlashes
              reading.splitsAtBackslashes = splitsAtBackslashes
              reading.mergesSlashes = mergesSlashes
              reading.cutsParameters = !keepsParameters
              _ = write(path, reading, &form, &decoded)
              if !ASCII.equal(form.span, path), property(form.span) { return true }
              guard decodings == 0 else { continue }
              // Who resolves dots first decodes then.
              _ = PathNormalizer.write(form.span, PathReading(), into: &decoded)
              if !ASCII.equal(decoded.span, path), property(decoded.span) { return true }
            }
          }
        }
      }
    }
    return false
  }

  /// Bytes of all forms together.
  private static let maximumWork = 131_072

  /// Writes the form; whether a dot segment was taken out.
  private static func write(
    _ path: Span<UInt8>, _ reading: PathReading, _ form: inout ByteBuffer, _ decoded: inout ByteBuffer
  ) -> Bool {
    var hadDots: Bool
    if reading.decodings > 1 {
      PathNormalizer.decode(path, keepingSlashes: !reading.splitsAtEscapedSlashes, into: &decoded)
      hadDots = PathNormalizer.write(decoded.span, reading, into: &form)
    } else {
      hadDots = PathNormalizer.write(path, reading, into: &form)
    }
    if !reading.mergesSlashes {
      // They are one afterwards, if ever.
      if PathNormalizer.write(form.span, .merging, into: &decoded) { hadDots = true }
      swap(&form, &decoded)
    }
    return hadDots
  }
}
