/// One way in which two answers do not mean the same.
package struct Difference: Sendable, Equatable {
  /// The raw values are labels of a metric and words of samples.
  package enum Kind: String, Sendable, CaseIterable {
    /// The rest side has a value and the rpc side has none.
    case missing
    /// The rpc side has a value and the rest side has none.
    case extra
    case changed
    /// A value of another type than the schema's, or of another kind in a `google.protobuf.Value`.
    case type
    /// One side answered with an error, or the two with different ones; or a REST caller would see another status of a
    /// success.
    case status
    /// The other side could not be asked: translation refuses the request.
    case request
    /// The schema does not know the field: where contracts drift.
    case unknown
    /// A REST caller would find the member under another name.
    case name
    /// A REST caller would find the value written otherwise, or the member there or not there, though it means the same.
    case form

    /// Whether it is of how the JSON of an answer is written, and not of what it says.
    package var isOfSpelling: Bool { self == .name || self == .form }
  }

  /// JSON names with `[]` behind repeated fields and maps, `parcel.items[].weightG`; `$` is the whole.
  package let path: String
  package let kind: Kind
  package let rest: DifferenceValue
  package let rpc: DifferenceValue

  package init(_ kind: Kind, at path: String, rest: DifferenceValue = .absent, rpc: DifferenceValue = .absent) {
    self.path = path.isEmpty ? Self.whole : path
    self.kind = kind
    self.rest = rest
    self.rpc = rpc
  }

  /// The path of what concerns the answer as a whole.
  package static let whole = "$"
}

/// What one side had, as far as it may be shown.
package enum DifferenceValue: Sendable, Equatable {
  case absent
  /// A number or a boolean, as in JSON.
  case literal(String)
  case text(String)
}

/// The differences of one comparison: each path and kind once, and no more than are useful.
package struct DifferenceList: Sendable {
  /// Distinct differences of one comparison; beyond, it ends.
  package static let maximum = 32

  package private(set) var all: [Difference] = []

  package init() {}

  package var isFull: Bool { all.count >= Self.maximum }

  package func contains(_ kind: Difference.Kind, at path: String) -> Bool {
    all.contains { $0.kind == kind && $0.path == path }
  }

  /// Adds one that is not there yet; nothing when the list is full.
  package mutating func add(_ difference: Difference) {
    guard !isFull, !contains(difference.kind, at: difference.path) else { return }
    all.append(difference)
  }
}
