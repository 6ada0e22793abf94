import Bytes
import RandomnessTestSupport
import Testing

@testable import ProtoJSON

/// Floating point between text and bits, against the standard library.
@Suite struct NumberTests {
  private static let seed = UInt64.random(in: 0...(.max))
  private static let edges = [
    "0", "-0", "0e5", "0e400", "0.0", "1", "-1", "1e22", "1e23", "8.5e22", "9007199254740993", "9007199254740993.0",
    "9007199254740992.999999999999999999999999", "9007199254740993.000000000000000000000001", "9007199254740995",
    "1.7976931348623157e308", "1.7976931348623158e308", "4.9e-324", "2.4703282292062327e-324",
    "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1e-400", "0.1", "0.3",
    "123456789012345678901234567890", "0.000000000000000000000000000000000000000000012345", "18446744073709551616",
    "18446744073709551615", "9999999999999999999", "1.00000005960464477539", "16777217", "16777219.0",
    "1.40129846432481707e-45", "7.006492321624085e-46", "3.4028234e38", "3.4028235677973366e38", "1e-45", "1e38",
  ]

  /// A number as somebody might type it: some short, some longer than any double.
  private static func text(_ generator: inout SeededGenerator) -> String {
    func digits(_ count: Int) -> String {
      String((0..<count).map { _ in Character(String(Int.random(in: 0...9, using: &generator))) })
    }
    var text = Bool.random(using: &generator) ? "-" : ""
    text += String(Int.random(in: 0...9, using: &generator))
    if text.last != "0" { text += digits(Int.random(in: 0...22, using: &generator)) }
    if Bool.random(using: &generator) { text += "." + digits(Int.random(in: 1...24, using: &generator)) }
    if Bool.random(using: &generator) { text += "e\(Int.random(in: -350...310, using: &generator))" }
    return text
  }

  private static func samples(_ count: Int) -> [String] {
    var generator = SeededGenerator(seed: seed)
    return edges + (0..<count).map { _ in text(&generator) }
  }

  @Test func doublesAreReadAsTheNearestValue() throws {
    for text in Self.samples(4_000) {
      let expected = try #require(Double(text))
      let found = try? FloatReading.parseDouble(Array(text.utf8).span, at: 0)
      #expect(found?.bitPattern == (expected.isFinite ? expected.bitPattern : nil), "\(text), seed \(Self.seed)")
    }
  }

  @Test func floatsAreReadAsTheNearestValue() throws {
    for text in Self.samples(4_000) {
      let expected = try #require(Float(text))
      let found = try? FloatReading.parseFloat(Array(text.utf8).span, at: 0)
      #expect(found?.bitPattern == (expected.isFinite ? expected.bitPattern : nil), "\(text), seed \(Self.seed)")
    }
  }

  /// Digits from the first to the last that is not zero.
  private func significant(_ text: String) -> String {
    var digits = text.prefix { $0 != "e" }.filter(\.isNumber)[...]
    digits = digits.drop { $0 == "0" }
    while digits.last == "0" { digits.removeLast() }
    return String(digits)
  }

  @Test func doublesAreWrittenWithTheFewestDigits() {
    var generator = SeededGenerator(seed: Self.seed)
    var values = Self.edges.compactMap { Double($0) }.filter(\.isFinite)
    values += (0..<4_000).map { _ in Double(bitPattern: UInt64.random(in: 0...(.max), using: &generator)) }
    values += (0..<2_000).map { _ in Double.random(in: -1_000...1_000, using: &generator) }
    values += (-1_074...1_023).map { Double(sign: .plus, exponent: $0, significand: 1) }
    for value in values where value.isFinite {
      var output = ByteBuffer()
      FloatForm.write(value, into: &output)
      let text = String(decoding: output.bytes, as: UTF8.self)
      #expect(Double(text)?.bitPattern == value.bitPattern, "\(text) for \(value), seed \(Self.seed)")
      #expect(significant(text) == significant(value.description), "\(text) for \(value), seed \(Self.seed)")
    }
  }

  @Test func floatsAreWrittenWithTheFewestDigits() {
    var generator = SeededGenerator(seed: Self.seed)
    var values = Self.edges.compactMap { Float($0) }.filter(\.isFinite)
    values += (0..<4_000).map { _ in Float(bitPattern: UInt32.random(in: 0...(.max), using: &generator)) }
    values += (-149...127).map { Float(sign: .plus, exponent: $0, significand: 1) }
    for value in values where value.isFinite {
      var output = ByteBuffer()
      FloatForm.write(value, into: &output)
      let text = String(decoding: output.bytes, as: UTF8.self)
      #expect(Float(text)?.bitPattern == value.bitPattern, "\(text) for \(value), seed \(Self.seed)")
      #expect(significant(text) == significant(value.description), "\(text) for \(value), seed \(Self.seed)")
    }
  }

  @Test(arguments: [
    (1.5e300, "1.5e+300"), (1e-5, "0.00001"), (1.25e-7, "1.25e-07"), (.leastNonzeroMagnitude, "5e-324"),
    (1e23, "1e+23"),
    (0.00012345678, "0.00012345678"), (12_345.678_901_234, "12345.678901234"),
    (9_007_199_254_740_994, "9007199254740994"),
    (-0.0, "-0.0"), (1e16, "10000000000000000"), (-2.5, "-2.5"),
  ])
  func doublesAreSpelt(value: Double, text: String) {
    var output = ByteBuffer()
    FloatForm.write(value, into: &output)
    #expect(String(decoding: output.bytes, as: UTF8.self) == text)
  }

  @Test(
    arguments: [
      (-342, 0xEEF4_53D6_923B_D65A, 0x113F_AA29_06A1_3B3F), (-28, 0xFD87_B5F2_8300_CA0D, 0x8BCA_9D6E_1888_53FC),
      (-1, 0xCCCC_CCCC_CCCC_CCCC, 0xCCCC_CCCC_CCCC_CCCD), (0, 0x8000_0000_0000_0000, 0),
      (308, 0x8E67_9C2F_5E44_FF8F, 0x570F_09EA_A7EA_7648),
    ] as [(Int, UInt64, UInt64)])
  func powersOfTenAreExact(exponent: Int, high: UInt64, low: UInt64) {
    let found = PowersOfTen.significand(exponent)
    #expect(found.high == high && found.low == low)
  }

  @Test func wholeNumbersAreWrittenInDecimal() {
    var generator = SeededGenerator(seed: Self.seed)
    var values: [UInt64] = [0, 9, 10, 99, 100, .max, .max / 10, .max / 10 + 1]
    var power: UInt64 = 1
    for _ in 0..<19 {
      power *= 10
      values += [power - 1, power, power + 1]
    }
    values += (0..<64).map { UInt64.random(in: 0...(.max >> UInt64($0)), using: &generator) }
    for value in values {
      var output = ByteBuffer()
      output.append(decimal: value)
      output.append(decimal: Int64(bitPattern: value))
      #expect(String(decoding: output.bytes, as: UTF8.self) == "\(value)\(Int64(bitPattern: value))")
    }
  }
}
