import RandomnessTestSupport

/// Single values as clients spell them.
struct ValueMaker {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private static let words = [
    "parcel", "harbour", "morning", "fragile", "signature", "north", "hub", "express", "return", "depot", "left",
    "at", "the", "door", "with", "neighbour", "customs", "cleared", "delayed", "weather", "sorting", "line",
  ]
  private static let foreignWords = [
    "東京", "港", "配達", "Grüße", "Überführung", "façade", "señor", "Москва", "посылка", "서울", "📦", "🚚", "naïve",
  ]

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
  mutating func shuffle<T>(_ values: inout [T]) { values.shuffle(using: &generator) }

  // MARK: Texts

  mutating func words(_ count: ClosedRange<Int>) -> String {
    let isForeign = chance(30)
    var text = ""
    for index in 0..<Int.random(in: count, using: &generator) {
      if index > 0 { text += " " }
      text += isForeign && chance(40) ? pick(Self.foreignWords) : pick(Self.words)
    }
    return text
  }

  /// A few words; some have what must be escaped, and some serializers escape all that is not ASCII.
  mutating func sentence(_ count: ClosedRange<Int>) -> JSONTree {
    var text = words(count)
    if chance(4) { text += "\n\"\(words(1...2))\"" }
    return .string(JSONString(text, isASCII: chance(5)))
  }

  mutating func text(_ text: String) -> JSONTree { .string(JSONString(text)) }

  mutating func identifier(_ prefix: String) -> JSONTree {
    text(prefix + "-" + String(below(1 << 40) | 1 << 40, radix: 16))
  }

  mutating func base64(_ length: ClosedRange<Int>) -> JSONTree {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let groups = Int.random(in: length, using: &generator) / 3 + 1
    let encoded = (0..<groups * 4).map { _ in digits[below(64)] }
    return text(String(encoded))
  }

  // MARK: Numbers

  /// A whole number whose count of digits is spread evenly.
  mutating func magnitude(_ limit: UInt64) -> UInt64 {
    let width = Int.random(in: 1...64, using: &generator)
    return UInt64.random(in: 0...(UInt64.max >> UInt64(64 - width)), using: &generator) & limit
  }

  /// A 64-bit number: quoted as ProtoJSON writes it, or bare.
  mutating func int64(signed: Bool = true) -> JSONTree {
    let digits: String
    if signed {
      let magnitude = Int64(magnitude(UInt64(Int64.max)))
      digits = String(chance(20) ? -magnitude : magnitude)
    } else {
      digits = String(magnitude(.max))
    }
    return chance(85) ? text(digits) : .bare(digits)
  }

  mutating func int32(signed: Bool = true) -> JSONTree {
    let magnitude = Int64(magnitude(signed ? UInt64(Int32.max) : UInt64(UInt32.max)))
    return .bare(String(signed && chance(20) ? -magnitude : magnitude))
  }

  mutating func small(_ bound: Int) -> JSONTree { .bare(String(below(bound))) }

  /// Prices, measures, whole numbers, and some with all the digits that a double has.
  mutating func double() -> JSONTree {
    switch below(100) {
    case ..<45: .bare("\(below(10_000)).\(below(10))\(below(9) + 1)")
    case ..<65: .bare("\(below(1_000)).\(below(90_000) + 10_000)")
    case ..<80: .bare(String(below(100_000)))
    case ..<97: .bare(finite(Double.random(in: -1...1, using: &generator) * 1_000))
    default: .bare(finite(Double(bitPattern: UInt64.random(in: 0...(.max), using: &generator))))
    }
  }

  private func finite(_ value: Double) -> String { (value.isFinite ? value : 0.5).description }

  mutating func float() -> JSONTree {
    chance(70)
      ? .bare("\(below(1_000)).\(below(9) + 1)") : .bare(Float.random(in: -100...100, using: &generator).description)
  }

  mutating func bool() -> JSONTree { .bare(chance(50) ? "true" : "false") }

  mutating func coordinate(_ range: Int) -> JSONTree {
    .bare("\(chance(50) ? "-" : "")\(below(range)).\(below(900_000) + 100_000)")
  }

  // MARK: Times

  private func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  mutating func timestamp() -> JSONTree {
    var text = "\(2_015 + below(15))-\(padded(below(12) + 1, 2))-\(padded(below(28) + 1, 2))T"
    text += "\(padded(below(24), 2)):\(padded(below(60), 2)):\(padded(below(60), 2))"
    if chance(60) { text += ".\(padded(below(1_000), 3))" }
    return self.text(text + (chance(85) ? "Z" : "+0\(below(9) + 1):00"))
  }

  mutating func duration() -> JSONTree {
    text(chance(50) ? "\(below(1_000_000))s" : "\(below(100_000)).\(padded(below(1_000), 3))s")
  }
}
