import Bytes

extension JSONCursor {
  private typealias Block = SIMD16<UInt8>
  private typealias Mask = SIMDMask<SIMD16<Int8>>

  /// Where a run of plain string bytes ends, and whether some of it is not ASCII.
  @inline(__always)
  func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
    var at = start
    var seen: UInt8 = 0
    let count = json.count
    while count &- at >= 16 {
      let block = unsafe json.bytes.unsafeLoadUnaligned(fromByteOffset: at, as: Block.self)
      // Each comparison with its type spelt out: written as one expression, or with the unsigned `.<`, they become
      // loops over the lanes instead of one instruction each.
      let quotes: Mask = block .== Block(repeating: 0x22)
      let backslashes: Mask = block .== Block(repeating: 0x5C)
      let controls: Mask = (block & Block(repeating: 0xE0)) .== Block(repeating: 0)
      let stops: Mask = quotes .| backslashes .| controls
      let high = unsafe unsafeBitCast(block, to: SIMD2<UInt64>.self)
      let mask = unsafe unsafeBitCast(stops, to: SIMD2<UInt64>.self)
      if mask[0] | mask[1] != 0 {
        // What is behind the stop may set the flag too: it only costs a needless check.
        if (high[0] | high[1]) & 0x8080_8080_8080_8080 != 0 { seen |= 0x80 }
        let lane =
          mask[0] != 0 ? mask[0].trailingZeroBitCount >> 3 : 8 &+ mask[1].trailingZeroBitCount >> 3
        return (at &+ lane, seen < 0x80)
      }
      if (high[0] | high[1]) & 0x8080_8080_8080_8080 != 0 { seen |= 0x80 }
      at &+= 16
    }
    while at < count {
      let byte = json[at]
      if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
      seen |= byte
      at &+= 1
    }
    return (at, seen < 0x80)
  }

  /// Steps over a string without escapes.
  ///
  /// - Returns: the range of its contents, or nil when it has escapes: then nothing is stepped over and
  ///   ``unescape(into:)`` reads it.
  @inline(__always)
  mutating func plainString() throws(Fault) -> Range<Int>? {
    guard byte == 0x22 else { throw mismatch("a string") }
    let start = index &+ 1
    let run = plainRun(from: start)
    guard run.end < json.count else { throw unterminated() }
    let stop = json[run.end]
    if stop != 0x22 {
      if stop == 0x5C { return nil }
      throw Fault(.syntax, at: run.end, "control characters in a string must be escaped")
    }
    if !run.isASCII { try validate(start..<run.end) }
    index = run.end &+ 1
    return start..<run.end
  }

  /// Steps over the string that stands here if it is this text, with escapes or without.
  mutating func skipString(_ text: StaticString) throws(Fault) -> Bool {
    let start = index
    let isSame: Bool
    if let range = try plainString() {
      isSame = ASCII.equal(json.extracting(range), text)
    } else {
      var unescaped = ByteBuffer()
      try unescape(into: &unescaped)
      isSame = ASCII.equal(unescaped.span, text)
    }
    if !isSame { index = start }
    return isSame
  }

  @inline(never)
  private func unterminated() -> Fault {
    Fault(.syntax, at: json.count, "the closing quote expected, but the text ends")
  }

  @inline(never)
  func validate(_ range: Range<Int>) throws(Fault) {
    if let bad = UTF8Validation.firstInvalid(json.extracting(range)) {
      throw Fault(.utf8, at: range.lowerBound + bad, "well-formed UTF-8 expected")
    }
  }

  /// Steps over a string and appends its contents, escapes decoded.
  mutating func unescape(into output: inout ByteBuffer) throws(Fault) {
    guard byte == 0x22 else { throw mismatch("a string") }
    index &+= 1
    while true {
      let run = plainRun(from: index)
      guard run.end < json.count else { throw unterminated() }
      if !run.isASCII { try validate(index..<run.end) }
      output.append(json.extracting(index..<run.end))
      index = run.end
      switch json[index] {
      case 0x22:
        index &+= 1
        return
      case 0x5C: try escape(into: &output)
      default: throw Fault(.syntax, at: index, "control characters in a string must be escaped")
      }
    }
  }

  private mutating func escape(into output: inout ByteBuffer) throws(Fault) {
    let start = index
    guard json.count &- index >= 2 else { throw unterminated() }
    let letter = json[index &+ 1]
    index &+= 2
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(letter)
    case UInt8(ascii: "b"): output.append(0x08)
    case UInt8(ascii: "f"): output.append(0x0C)
    case UInt8(ascii: "n"): output.append(0x0A)
    case UInt8(ascii: "r"): output.append(0x0D)
    case UInt8(ascii: "t"): output.append(0x09)
    case UInt8(ascii: "u"):
      var scalar = UInt32(try hexadecimal(start))
      if scalar & 0xFC00 == 0xD800 {
        guard json.count &- index >= 2, json[index] == 0x5C, json[index &+ 1] == UInt8(ascii: "u") else {
          throw Fault(.utf8, at: start, "the second half of a surrogate pair expected")
        }
        index &+= 2
        let low = UInt32(try hexadecimal(start))
        guard low & 0xFC00 == 0xDC00 else {
          throw Fault(.utf8, at: start, "the second half of a surrogate pair expected")
        }
        scalar = 0x10000 &+ ((scalar & 0x3FF) &<< 10) &+ (low & 0x3FF)
      } else if scalar & 0xFC00 == 0xDC00 {
        throw Fault(.utf8, at: start, "the first half of a surrogate pair is missing")
      }
      output.append(scalar: scalar)
    default: throw Fault(.syntax, at: start, "an escape of JSON expected after the backslash")
    }
  }

  private mutating func hexadecimal(_ start: Int) throws(Fault) -> UInt16 {
    var value: UInt16 = 0
    guard json.count &- index >= 4 else { throw Fault(.syntax, at: start, "four hexadecimal digits expected") }
    for offset in 0..<4 {
      guard let digit = ASCII.hexadecimalValue(json[index &+ offset]) else {
        throw Fault(.syntax, at: start, "four hexadecimal digits expected")
      }
      value = value << 4 | UInt16(digit)
    }
    index &+= 4
    return value
  }
}

extension ByteBuffer {
  /// Appends a Unicode scalar value as UTF-8.
  mutating func append(scalar: UInt32) {
    func continuation(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: (scalar >> shift) & 0x3F) | 0x80 }
    switch scalar {
    case ..<0x80: append(UInt8(truncatingIfNeeded: scalar))
    case ..<0x800:
      append(UInt8(truncatingIfNeeded: scalar >> 6) | 0xC0)
      append(continuation(0))
    case ..<0x10000:
      append(UInt8(truncatingIfNeeded: scalar >> 12) | 0xE0)
      append(continuation(6))
      append(continuation(0))
    default:
      append(UInt8(truncatingIfNeeded: scalar >> 18) | 0xF0)
      append(continuation(12))
      append(continuation(6))
      append(continuation(0))
    }
  }
}
