import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

/// Values bound to fields anywhere in one message, collected in any order and written as one canonical message: each
/// nested message once, fields by number, repeated scalars packed where the schema says so.
struct MessageTree: ~Copyable {
  /// Where a value came from.
  enum Source: Equatable {
    case variable(Int)
    /// The parameter's name in the query.
    case query(Range<Int>)
    /// The parameter's name in a form.
    case form(Range<Int>)
  }

  struct Step {
    let field: Int
    let number: Int32
  }

  struct Leaf {
    /// Into `steps`.
    let path: Range<Int>
    /// Tag and value, in `values`.
    let value: Range<Int>
    let source: Source
  }

  /// Two values that cannot both be set.
  struct Conflict: Error {
    enum Kind {
      case repeated
      case oneof
      case path
    }

    let kind: Kind
    let first: Source
    let second: Source
  }

  private let schema: Schema
  private let message: Int
  private var steps: [Step] = []
  private(set) var leaves: [Leaf] = []
  var values = ByteBuffer()
  private var openPath = 0
  private var isSorted = false

  private static let allNumbers: ClosedRange<Int32> = 1...Int32.max

  init(_ schema: Schema, message: Int) {
    self.schema = schema
    self.message = message
  }

  var isEmpty: Bool { leaves.isEmpty }

  // MARK: Collecting

  /// Begins the path of the next value.
  mutating func beginPath() {
    steps.removeLast(steps.count - openPath)
  }

  mutating func descend(to field: Int, number: Int32) {
    steps.append(Step(field: field, number: number))
  }

  /// Takes what was written to `values` since an offset as the value at the open path.
  mutating func add(valueFrom start: Int, source: Source) {
    leaves.append(Leaf(path: openPath..<steps.count, value: start..<values.count, source: source))
    openPath = steps.count
    isSorted = false
  }

  /// Opens the path of the last value once more, for another one of the same list.
  mutating func reopenPath() {
    guard let last = leaves.last else { return }
    for index in last.path { steps.append(steps[index]) }
  }

  /// Takes back what was written to `values` since an offset.
  mutating func takeValue(from start: Int) -> [UInt8] {
    var taken = ByteBuffer()
    taken.append(values, start..<values.count)
    values.truncate(to: start)
    return taken.bytes
  }

  /// The values that came from a form, each with the fields that lead to it.
  func forEachFormPath(_ body: (ArraySlice<Step>) -> Void) {
    for leaf in leaves {
      if case .form = leaf.source { body(steps[leaf.path]) }
    }
  }

  /// Whether some value lies in a top-level field.
  func holds(field: Int) -> Bool {
    leaves.contains { steps[$0.path.lowerBound].field == field }
  }

  /// The value of a top-level sibling in the oneof of a field.
  func sibling(of field: Int) -> Source? {
    let fields = schema.messages[message].fields
    let oneof = fields[field].oneofIndex
    guard oneof >= 0 else { return nil }
    return leaves.first { leaf in
      let other = steps[leaf.path.lowerBound].field
      return other != field && fields[other].oneofIndex == oneof
    }?.source
  }

  // MARK: Writing

  /// Appends the message, or those of its top-level fields whose numbers lie in a range: what else is written between
  /// two parts then stands in its place.
  ///
  /// - Throws: the first conflict, whatever the range.
  mutating func write(_ numbers: ClosedRange<Int32> = allNumbers, into output: inout ByteBuffer) throws(Conflict) {
    if leaves.count > 1, !isSorted {
      let steps = steps
      leaves.sort { Self.precedes($0, $1, steps) }
      isSorted = true
    }
    try write(leaves.indices, depth: 0, message: message, numbers, into: &output)
  }

  private static func precedes(_ left: Leaf, _ right: Leaf, _ steps: [Step]) -> Bool {
    for (one, other) in zip(left.path, right.path) where steps[one].number != steps[other].number {
      return steps[one].number < steps[other].number
    }
    // One path: the order of the client.
    return left.value.lowerBound < right.value.lowerBound
  }

  private func write(
    _ range: Range<Int>, depth: Int, message: Int, _ numbers: ClosedRange<Int32>, into output: inout ByteBuffer
  ) throws(Conflict) {
    let fields = schema.messages[message].fields
    var lower = range.lowerBound
    while lower < range.upperBound {
      let step = step(lower, depth)
      let field = fields[step.field]
      if field.oneofIndex >= 0 {
        for earlier in range.lowerBound..<lower
        where fields[self.step(earlier, depth).field].oneofIndex == field.oneofIndex {
          throw Conflict(kind: .oneof, first: leaves[earlier].source, second: leaves[lower].source)
        }
      }
      var upper = lower + 1
      while upper < range.upperBound, self.step(upper, depth).field == step.field { upper += 1 }
      if !numbers.contains(step.number) {
        // Of another part.
      } else if leaves[lower].path.count == depth + 1 {
        try writeLeaf(lower..<upper, field, into: &output)
      } else {
        try writeMessage(lower..<upper, depth: depth + 1, field, into: &output)
      }
      lower = upper
    }
  }

  @inline(__always)
  private func step(_ leaf: Int, _ depth: Int) -> Step { steps[leaves[leaf].path.lowerBound + depth] }

  private func writeMessage(
    _ range: Range<Int>, depth: Int, _ field: Field, into output: inout ByteBuffer
  ) throws(Conflict) {
    let number = UInt32(bitPattern: field.number)
    if field.kind == .group {
      output.append(tag: number, .startGroup)
      try write(range, depth: depth, message: field.messageIndex, Self.allNumbers, into: &output)
      output.append(tag: number, .endGroup)
    } else {
      output.append(tag: number, .lengthDelimited)
      let start = output.beginLengthDelimited()
      try write(range, depth: depth, message: field.messageIndex, Self.allNumbers, into: &output)
      output.endLengthDelimited(start)
    }
  }

  private func writeLeaf(_ range: Range<Int>, _ field: Field, into output: inout ByteBuffer) throws(Conflict) {
    let first = leaves[range.lowerBound]
    if field.cardinality == .singular {
      for index in range.dropFirst() { try check(leaves[index], against: first) }
      output.append(values, first.value)
      return
    }
    let tagWidth = Self.tagWidth(field.number)
    if field.isPacked, range.allSatisfy({ leaves[$0].value.count > tagWidth }) {
      output.append(tag: UInt32(bitPattern: field.number), .lengthDelimited)
      let start = output.beginLengthDelimited()
      for index in range { output.append(values, leaves[index].value.dropFirst(tagWidth)) }
      output.endLengthDelimited(start)
    } else {
      for index in range { output.append(values, leaves[index].value) }
    }
  }

  /// A singular value given twice; equal to what the path says is fine.
  private func check(_ leaf: Leaf, against first: Leaf) throws(Conflict) {
    guard case .variable = first.source else {
      throw Conflict(kind: .repeated, first: first.source, second: leaf.source)
    }
    let isEqual = values.withSpan { ASCII.equal($0.extracting(first.value), $0.extracting(leaf.value)) }
    if !isEqual { throw Conflict(kind: .path, first: first.source, second: leaf.source) }
  }

  private static func tagWidth(_ number: Int32) -> Int {
    switch number {
    case ..<16: 1
    case ..<2048: 2
    case ..<262_144: 3
    case ..<33_554_432: 4
    default: 5
    }
  }
}
