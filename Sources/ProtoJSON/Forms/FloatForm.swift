import Bytes

/// The shortest decimal text that reads back as the same floating point value.
enum FloatForm {
  /// Appends a finite value.
  static func write(_ value: Double, into output: inout ByteBuffer) {
    let magnitude = value.magnitude
    if magnitude < 9_007_199_254_740_992, value.sign == .plus || magnitude != 0 {
      // q / 10^k rounds correctly, so equality proves that "q with k decimals" reads back as the value; the first k
      // that does is the shortest.
      var power = 0
      while power <= 6 {
        let scale = FloatReading.exactPower(power)
        let digits = (magnitude * scale).rounded()
        guard digits < 9_007_199_254_740_992 else { break }
        if digits / scale == magnitude {
          write(UInt64(digits), decimals: power, isNegative: value.sign == .minus, into: &output)
          return
        }
        power += 1
      }
    }
    write(description: value.description, into: &output)
  }

  static func write(_ value: Float, into output: inout ByteBuffer) {
    let magnitude = value.magnitude
    if magnitude < 16_777_216, value.sign == .plus || magnitude != 0 {
      var power = 0
      while power <= 6 {
        let scale = Float(FloatReading.exactPower(power))
        let digits = (magnitude * scale).rounded()
        guard digits < 16_777_216 else { break }
        if digits / scale == magnitude {
          write(UInt64(digits), decimals: power, isNegative: value.sign == .minus, into: &output)
          return
        }
        power += 1
      }
    }
    write(description: value.description, into: &output)
  }

  private static func write(_ digits: UInt64, decimals: Int, isNegative: Bool, into output: inout ByteBuffer) {
    if isNegative { output.append(UInt8(ascii: "-")) }
    guard decimals > 0 else {
      output.append(decimal: digits)
      return
    }
    let scale = UInt64(FloatReading.exactPower(decimals))
    output.append(decimal: digits / scale)
    output.append(UInt8(ascii: "."))
    output.append(padded: Int(digits % scale), width: decimals)
  }

  /// Swift's description is the shortest too, but ends whole numbers with `.0`. That of the negative zero stays: many
  /// readers take `-0` for an integer, and so lose its sign.
  private static func write(description: String, into output: inout ByteBuffer) {
    let isWhole = description.hasSuffix(".0") && description != "-0.0"
    output.append(text: isWhole ? String(description.dropLast(2)) : description)
  }
}
