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
        let letters = ((vector | Vector(repeating: 0x20)) &- Vector(repeating: 97)) .< Vector(repeating: 26)
        let digits = (vector &- Vector(repeating: 48)) .< Vector(repeating: 10)
        let hyphens = vector .== Vector(repeating: 0x2D)
        let stop = first(.!(letters .| digits .| hyphens))
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
        let stop = first((vector .< Vector(repeating: 0x20)) .| (vector .== Vector(repeating: 0x7F)))
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
        let invisible = (vector &- Vector(repeating: 0x21)) .> Vector(repeating: 0x5D)
        let special = (vector .== Vector(repeating: 0x23)) .| (vector .== Vector(repeating: 0x3F))
        let stop = first(invisible .| special)
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

  /// The first lane that is set, or 16. Swift has no movemask: the mask is read as two words.
  @inline(__always)
  private static func first(_ mask: Mask) -> Int {
    let words = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    if words[0] != 0 { return words[0].trailingZeroBitCount >> 3 }
    if words[1] != 0 { return 8 &+ words[1].trailingZeroBitCount >> 3 }
    return 16
  }
}
