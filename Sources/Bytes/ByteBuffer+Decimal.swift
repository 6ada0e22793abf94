extension ByteBuffer {
  /// Appends a number in decimal.
  @inlinable
  public mutating func append<I: FixedWidthInteger>(decimal value: I) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let magnitude = UInt64(truncatingIfNeeded: value.magnitude)
    if magnitude < 10 {
      append(UInt8(truncatingIfNeeded: magnitude) &+ 48)
    } else {
      append(digits: magnitude)
    }
  }

  /// `00` to `99`, one after the other.
  private static let pairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """

  /// Two digits in one division.
  @usableFromInline
  mutating func append(digits value: UInt64) {
    reserve(20)
    let digits = Self.pairs
    let count = Self.digitCount(value)
    guard let base = unsafe base else { return }
    // Room for `count` bytes was reserved above, and no number has more digits than were counted.
    var at = unsafe base + (tail &+ count)
    tail &+= count
    var rest = value
    while rest >= 100 {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      rest = quotient
      unsafe at -= 2
      unsafe Self.put(pair, of: digits, to: at)
    }
    if rest >= 10 {
      unsafe Self.put(rest, of: digits, to: at - 2)
    } else {
      unsafe at[-1] = UInt8(truncatingIfNeeded: rest) &+ 48
    }
  }

  /// Both digits in one load and one store.
  @inline(__always)
  private static func put(_ pair: UInt64, of digits: StaticString, to place: UnsafeMutablePointer<UInt8>) {
    let source = unsafe UnsafeRawPointer(digits.utf8Start)
    let both = unsafe source.loadUnaligned(fromByteOffset: Int(truncatingIfNeeded: pair &* 2), as: UInt16.self)
    unsafe UnsafeMutableRawPointer(place).storeBytes(of: both, as: UInt16.self)
  }

  /// Appends a number with leading zeros; one that is too wide loses its upper digits.
  public mutating func append(padded value: Int, width: Int) {
    precondition(width >= 0 && width <= 20, "more digits than a number has")
    reserve(width)
    guard let base = unsafe base else { return }
    var rest = value.magnitude
    var at = tail &+ width
    tail = at
    for _ in 0..<width {
      at &-= 1
      unsafe base[at] = UInt8(truncatingIfNeeded: rest % 10) &+ 48
      rest /= 10
    }
  }

  /// How many decimal digits a number has.
  @inline(__always)
  private static func digitCount(_ value: UInt64) -> Int {
    // 1233 / 4096 is log10(2), just too much by less than it takes to be wrong below 2^64.
    let guess = ((64 &- (value | 1).leadingZeroBitCount) &* 1_233) >> 12
    return value >= power(guess) ? guess &+ 1 : guess
  }

  @inline(__always)
  private static func power(_ exponent: Int) -> UInt64 {
    switch exponent {
    case 0: 0
    case 1: 10
    case 2: 100
    case 3: 1_000
    case 4: 10_000
    case 5: 100_000
    case 6: 1_000_000
    case 7: 10_000_000
    case 8: 100_000_000
    case 9: 1_000_000_000
    case 10: 10_000_000_000
    case 11: 100_000_000_000
    case 12: 1_000_000_000_000
    case 13: 10_000_000_000_000
    case 14: 100_000_000_000_000
    case 15: 1_000_000_000_000_000
    case 16: 10_000_000_000_000_000
    case 17: 100_000_000_000_000_000
    case 18: 1_000_000_000_000_000_000
    default: 10_000_000_000_000_000_000
    }
  }
}
