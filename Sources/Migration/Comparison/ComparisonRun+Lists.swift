import Bytes
import ProtobufSchema

/// Repeated fields.
extension ComparisonRun {
  /// Compares the elements that begin at two offsets.
  ///
  /// - Returns: where they end on the rest side.
  mutating func elements(
    _ field: ComparedField, _ start: Int, _ limit: Int, _ other: Int, _ otherLimit: Int
  ) throws(WireError) -> Int {
    var left = Cursor(offset: start, limit: limit)
    var right = Cursor(offset: other, limit: otherLimit)
    if field.isUnordered {
      try unordered(field, &left, &right)
      return left.offset
    }
    var count = 0
    while !isExhausted {
      let a = try next(.rest, field, &left)
      let b = try next(.rpc, field, &right)
      guard let a, let b else {
        guard a != nil || b != nil else { return left.offset }
        try unequalCounts(field, count, a != nil, &left, b != nil, &right)
        return left.offset
      }
      try value(field, a, b)
      count += 1
    }
    return try skipRun(field, &left)
  }

  mutating func skipRun(_ field: ComparedField, _ cursor: inout Cursor) throws(WireError) -> Int {
    while try next(.rest, field, &cursor) != nil {}
    return cursor.offset
  }

  /// One side has more elements than the `count` that both have.
  private mutating func unequalCounts(
    _ field: ComparedField, _ count: Int, _ leftHasMore: Bool, _ left: inout Cursor, _ rightHasMore: Bool,
    _ right: inout Cursor
  ) throws(WireError) {
    var (total, otherTotal) = (count + (leftHasMore ? 1 : 0), count + (rightHasMore ? 1 : 0))
    while try next(.rest, field, &left) != nil { total += 1 }
    while try next(.rpc, field, &right) != nil { otherTotal += 1 }
    report(
      leftHasMore ? .missing : .extra, pathText, Self.count(total, of: field), Self.count(otherTotal, of: field))
  }

  static func count(_ count: Int, of field: ComparedField) -> DifferenceValue {
    let what = field.cardinality == .map ? ("entry", "entries") : ("element", "elements")
    return .text("\(count) \(count == 1 ? what.0 : what.1)")
  }

  // MARK: In any order

  /// Elements of both sides, each by a hash of what it means.
  struct Hashed {
    let hash: UInt64
    let element: Occurrence
  }

  /// Compares two lists as bags: elements with the same hash belong together.
  private mutating func unordered(
    _ field: ComparedField, _ left: inout Cursor, _ right: inout Cursor
  ) throws(WireError) {
    let a = try hashed(.rest, field, &left)
    let b = try hashed(.rpc, field, &right)
    var (alone, otherAlone): ([Occurrence], [Occurrence]) = ([], [])
    var (i, j) = (0, 0)
    while i < a.count || j < b.count, !isExhausted {
      if j == b.count || i < a.count && a[i].hash < b[j].hash {
        alone.append(a[i].element)
        i += 1
      } else if i == a.count || b[j].hash < a[i].hash {
        otherAlone.append(b[j].element)
        j += 1
      } else {
        // What a hash leaves out, what has a tolerance, is compared here.
        try value(field, a[i].element, b[j].element)
        i += 1
        j += 1
      }
    }
    // What is alone on both sides was probably changed; in the order of the wire the pairs are the likeliest.
    alone.sort { $0.start < $1.start }
    otherAlone.sort { $0.start < $1.start }
    for (element, other) in zip(alone, otherAlone) where !isOver { try value(field, element, other) }
    if isExhausted { return _ = try skipRun(field, &left) }
    if a.count != b.count {
      report(
        a.count > b.count ? .missing : .extra, pathText, Self.count(a.count, of: field),
        Self.count(b.count, of: field))
    }
  }

  /// The elements of a run in the order of their hashes.
  private mutating func hashed(
    _ side: Side, _ field: ComparedField, _ cursor: inout Cursor
  ) throws(WireError) -> [Hashed] {
    var found: [Hashed] = []
    while !isExhausted, let element = try next(side, field, &cursor) {
      found.append(Hashed(hash: try hash(of: element, field, side), element: element))
    }
    found.sort { $0.hash < $1.hash }
    return found
  }
}
