import HTTPModel

/// Scans to the byte that ends a token, a value or a target, sixteen bytes at a time.
///
/// Each returns the offset of the first byte that does not belong, or the count of the bytes.
enum ByteScan {
  static let carriageReturn: UInt8 = 0x0D
  static let lineFeed: UInt8 = 0x0A
  static let blank: UInt8 = 0x20
  static let tab: UInt8 = 0x09

  private typealias Vector = SIMD16<UInt8>
  private typealias Mask = SIMDMask<SIMD16<Int8>>

  @inline(__always)
  static func isWhitespace(_ byte: UInt8) -> Bool { byte == blank || byte == tab }

  /// To the end of a token (RFC 9110 section 5.6.2).
  static func token(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while true {
      // Letters, digits and the hyphen in bulk; the other token bytes are rare and looked up one by one.
      while bytes.count &- index >= 16 {
        let vector = load(bytes, index)
        let letters = isBelow((vector | Vector(repeating: 0x20)) &- Vector(repeating: 97), 26)
        let digits = isBelow(vector &- Vector(repeating: 48), 10)
        let hyphens: Mask = vector .== Vector(repeating: 0x2D)
        let plain: Mask = letters .| digits .| hyphens
        let stop = first(.!plain)
        index &+= stop
        if stop < 16 { break }
      }
      guard index < bytes.count, FieldSyntax.isTokenByte(bytes[index]) else { return index }
      index &+= 1
    }
  }

  /// To the first byte that may not stand in a field value (RFC 9110 section 5.5): a CR if all is well.
  static func value(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while true {
      while bytes.count &- index >= 16 {
        let vector = load(bytes, index)
        let deletes: Mask = vector .== Vector(repeating: 0x7F)
        let controls: Mask = isBelow(vector, 0x20)
        let stop = first(controls .| deletes)
        index &+= stop
        if stop < 16 { break }
      }
      guard index < bytes.count, FieldSyntax.isValueByte(bytes[index]) else { return index }
      index &+= 1
    }
  }

  /// To the first question mark, or byte that may not stand in a request target: anything but visible ASCII, and `#`.
  static func target(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while true {
      while bytes.count &- index >= 16 {
        let vector = load(bytes, index)
        let visible = isBelow(vector &- Vector(repeating: 0x21), 0x5E)
        let fragments: Mask = vector .== Vector(repeating: 0x23)
        let queries: Mask = vector .== Vector(repeating: 0x3F)
        let special: Mask = fragments .| queries
        let stop = first(.!visible .| special)
        index &+= stop
        if stop < 16 { return index }
      }
      guard index < bytes.count, isPlainTargetByte(bytes[index]) else { return index }
      index &+= 1
    }
  }

  @inline(__always)
  private static func isPlainTargetByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != 0x23 && byte != 0x3F
  }

  @inline(__always)
  private static func load(_ bytes: Span<UInt8>, _ index: Int) -> Vector {
    unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: Vector.self)
  }

  /// Lanes below a bound. There is one instruction for signed bytes and none for unsigned ones, for which Swift makes a
  /// loop over the lanes: so both sides are shifted by half the range.
  @inline(__always)
  private static func isBelow(_ vector: Vector, _ bound: UInt8) -> Mask {
    let shifted = unsafe unsafeBitCast(vector ^ Vector(repeating: 0x80), to: SIMD16<Int8>.self)
    return shifted .< SIMD16<Int8>(repeating: Int8(bitPattern: bound ^ 0x80))
  }

  /// The first lane that is set, or 16. Swift has no movemask: the mask is read as two words.
  @inline(__always)
  private static func first(_ mask: Mask) -> Int {
    let words = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    if words[0] != 0 { return words[0].trailingZeroBitCount >> 3 }
    if words[1] != 0 { return 8 &+ words[1].trailingZeroBitCount >> 3 }
    return 16
  }
}
