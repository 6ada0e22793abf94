import Migration

/// What the comparisons of one route found: differences by path, fields that the schema lacks, samples. Bounded: field
/// paths are chosen by backends and clients.
struct ShadowFindings {
  struct Place: Hashable {
    let path: String
    let kind: Difference.Kind
  }

  /// One call whose answers differed.
  struct Sample {
    /// RFC 3339.
    let at: String
    /// The path template or procedure that was called, and the request's id.
    let request: String
    let requestID: String
    /// What each side answered with: a code, or `ok`.
    let rest: String
    let rpc: String
    let differences: [Difference]
  }

  /// Paths and kinds that are told apart; all further ones are `other`.
  static let maximumPlaces = 200
  static let maximumUnknown = 100
  static let other = "other"

  private(set) var differences: [Place: UInt64] = [:]
  /// Paths of legacy fields that the schema does not know.
  private(set) var unknown: [String: UInt64] = [:]
  /// Oldest first.
  private(set) var samples: [Sample] = []
  /// When the last two answers differed, as RFC 3339; nil: never.
  private(set) var lastMismatch: String?
  /// Of calls that differed.
  var lines = SparseLines(1, per: .seconds(10))

  /// Counts a difference.
  ///
  /// - Returns: the place that it is counted under.
  mutating func count(_ difference: Difference) -> Place {
    var place = Place(path: difference.path, kind: difference.kind)
    if differences[place] == nil, differences.count >= Self.maximumPlaces {
      place = Place(path: Self.other, kind: difference.kind)
    }
    differences[place, default: 0] += 1
    if difference.kind == .unknown, unknown[difference.path] != nil || unknown.count < Self.maximumUnknown {
      unknown[difference.path, default: 0] += 1
    }
    return place
  }

  /// Two answers differed.
  ///
  /// - Parameter limit: samples that are kept; may be 0.
  mutating func keep(_ sample: Sample, limit: Int) {
    lastMismatch = sample.at
    samples.append(sample)
    if samples.count > limit { samples.removeFirst(samples.count - limit) }
  }

  /// The most frequent first.
  func top(_ count: Int) -> [(place: Place, count: UInt64)] {
    differences.map { (place: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.place.path, $0.place.kind.rawValue) < ($0.count, $1.place.path, $1.place.kind.rawValue) }
      .prefix(count).map { $0 }
  }
}
