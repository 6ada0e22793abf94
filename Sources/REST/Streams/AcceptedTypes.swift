import Bytes
import HTTPModel
import RPC

/// The media ranges of a request's `Accept` fields, with their weights. Parameters other than `q` count for nothing.
struct AcceptedTypes {
  /// How well a type is accepted: by its weight, then by how exactly it is named.
  struct Rank: Comparable {
    /// Thousandths.
    var weight: Int
    /// 2: the type itself; 1: `type/*`; 0: `*/*`, or no `Accept` at all.
    var exactness: Int

    static func < (left: Rank, right: Rank) -> Bool {
      (left.weight, left.exactness) < (right.weight, right.exactness)
    }
  }

  /// Ranges beyond which the rest of a long list is not looked at.
  private static let maximumRanges = 64

  private var ranges: [(type: String, weight: Int)] = []
  private let isPresent: Bool

  init(_ request: FieldBlock) {
    isPresent = request.contains(.accept)
    guard isPresent else { return }
    for index in request.indices where request.entry(at: index).name == .accept && !request.entry(at: index).isRemoved {
      request.withValue(at: index) { add($0) }
    }
  }

  private mutating func add(_ value: Span<UInt8>) {
    var start = 0
    while start < value.count, ranges.count < Self.maximumRanges {
      var end = start
      while end < value.count, value[end] != UInt8(ascii: ",") { end &+= 1 }
      let element = value.extracting(start..<end)
      let type = element.extracting(MediaType.essence(element))
      if !type.isEmpty, let weight = Self.weight(element) {
        ranges.append((String(repairing: type).lowercased(), weight))
      }
      start = end &+ 1
    }
  }

  /// How this type, in lower case, is accepted; nil when no range covers it. The most exact range decides.
  func rank(of type: StaticString) -> Rank? {
    guard isPresent else { return Rank(weight: 1_000, exactness: 0) }
    let name = "\(type)"
    let family = name.prefix { $0 != "/" } + "/*"
    for (exactness, wanted) in [(2, name), (1, String(family)), (0, "*/*")] {
      if let range = ranges.last(where: { $0.type == wanted }) {
        return Rank(weight: range.weight, exactness: exactness)
      }
    }
    return nil
  }

  /// The weight of an element in thousandths: 1000 without `q`, nil for a malformed one.
  private static func weight(_ element: Span<UInt8>) -> Int? {
    var start = 0
    while start < element.count, element[start] != UInt8(ascii: ";") { start &+= 1 }
    while start < element.count {
      var end = start &+ 1
      while end < element.count, element[end] != UInt8(ascii: ";") { end &+= 1 }
      let piece = element.extracting(start &+ 1..<end)
      let parameter = piece.extracting(MediaType.essence(piece))
      if parameter.count >= 2, parameter[0] | 0x20 == UInt8(ascii: "q"), parameter[1] == UInt8(ascii: "=") {
        return thousandths(parameter.extracting(droppingFirst: 2))
      }
      start = end
    }
    return 1_000
  }

  /// `0`, `1`, `0.5`, `1.000`: at most three decimals, at most 1 (RFC 9110 section 12.4.2).
  private static func thousandths(_ text: Span<UInt8>) -> Int? {
    guard !text.isEmpty, text.count <= 5, let first = ASCII.decimal(text.extracting(first: 1)), first <= 1,
      text.count == 1 || text[1] == UInt8(ascii: ".")
    else { return nil }
    guard text.count > 2 else { return first * 1_000 }
    let decimals = text.extracting(droppingFirst: 2)
    guard let number = ASCII.decimal(decimals) else { return nil }
    let value = first * 1_000 + number * [100, 10, 1][decimals.count - 1]
    return value <= 1_000 ? value : nil
  }
}
