import Bytes

/// The shortest decimal text that reads back as the same floating point value.
enum FloatForm {
  /// Appends a finite value.
  static func write(_ value: Double, into output: inout ByteBuffer) {
    let magnitude = value.magnitude
    if value.sign == .minus { sign(isZero: magnitude == 0, into: &output) }
    if magnitude < 9_007_199_254_740_992 {
      // q / 10^k rounds correctly, so equality proves that "q with k decimals" reads back as the value; the first k
      // that does is the shortest.
      var power = 0
      while power <= 6 {
        let scale = PowersOfTen.exact(power)
        let scaled = magnitude * scale + 0.5
        guard scaled < 4_503_599_627_370_496 else { break }
        let digits = Int64(scaled)
        if Double(digits) / scale == magnitude {
          write(UInt64(digits), decimals: power, into: &output)
          return
        }
        power &+= 1
      }
    }
    let shortest = ShortestDecimal(magnitude)
    write(shortest, isExponential: magnitude > 18_014_398_509_481_984, into: &output)
  }

  static func write(_ value: Float, into output: inout ByteBuffer) {
    let magnitude = value.magnitude
    if value.sign == .minus { sign(isZero: magnitude == 0, into: &output) }
    if magnitude < 16_777_216 {
      var power = 0
      while power <= 6 {
        let scale = Float(PowersOfTen.exact(power))
        let scaled = magnitude * scale + 0.5
        guard scaled < 8_388_608 else { break }
        let digits = Int64(scaled)
        if Float(digits) / scale == magnitude {
          write(UInt64(digits), decimals: power, into: &output)
          return
        }
        power &+= 1
      }
    }
    let shortest = ShortestDecimal(magnitude)
    write(shortest, isExponential: magnitude > 33_554_432, into: &output)
  }

  /// A negative zero is written as `-0.0`: many readers take `-0` for an integer, and so lose its sign.
  private static func sign(isZero: Bool, into output: inout ByteBuffer) {
    if isZero { output.append("-0.") } else { output.append(UInt8(ascii: "-")) }
  }

  private static func write(_ digits: UInt64, decimals: Int, into output: inout ByteBuffer) {
    guard decimals > 0 else {
      output.append(decimal: digits)
      return
    }
    let scale = PowersOfTen.integer(decimals)
    output.append(decimal: digits / scale)
    output.append(UInt8(ascii: "."))
    output.append(padded: Int(digits % scale), width: decimals)
  }

  /// Writes `0.00123`, `12.3`, `12300` or `1.23e+45`: small numbers down to 0.0001 without an exponent.
  private static func write(_ value: ShortestDecimal, isExponential: Bool, into output: inout ByteBuffer) {
    let start = output.count
    output.append(decimal: value.digits)
    let count = output.count &- start
    /// Digits before the point.
    let point = count &+ value.exponent
    if isExponential || point < -3 {
      if count > 1 { output.insert(".", at: start &+ 1) }
      output.append(point <= 0 ? "e-" : "e+")
      let power = (point &- 1).magnitude
      if power < 10 { output.append(UInt8(ascii: "0")) }
      output.append(decimal: power)
    } else if point <= 0 {
      output.insert("0.000", cut: 2 &- point, at: start)
    } else if point < count {
      output.insert(".", at: start &+ point)
    } else {
      for _ in count..<point { output.append(UInt8(ascii: "0")) }
    }
  }
}

extension ByteBuffer {
  /// Inserts the first bytes of a text at an offset.
  fileprivate mutating func insert(_ text: StaticString, cut: Int? = nil, at offset: Int) {
    let width = Swift.min(cut ?? text.utf8CodeUnitCount, text.utf8CodeUnitCount)
    openGap(at: offset, width: width)
    for index in 0..<width { self[offset + index] = unsafe text.utf8Start[index] }
  }
}
