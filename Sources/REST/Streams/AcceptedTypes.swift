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
    HeaderList.forEach(value, quoted: true) { range in
      if ranges.count < Self.maximumRanges { add(range: range) }
    }
  }

  private mutating func add(range: Span<UInt8>) {
    var nameEnd = 0
    while nameEnd < range.count, range[nameEnd] != UInt8(ascii: ";") { nameEnd &+= 1 }
    let type = range.extracting(MediaType.essence(range))
    guard !type.isEmpty, let weight = QualityValue.weight(range.extracting(nameEnd..<range.count)) else { return }
    ranges.append((String(repairing: type).lowercased(), Int(weight)))
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
}
