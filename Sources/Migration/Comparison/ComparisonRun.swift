import Bytes
import ProtoJSON
import ProtobufSchema

/// One comparison of two messages in the form that ``JSONCodec/normalize(_:message:unknownFields:into:)`` makes.
///
/// One walk over the wire bytes of both: nothing is made of a value before it is known to differ. Fields may come in any
/// order, each in one place. What the rest side has is looked up on the rpc side; what is left there is extra.
struct ComparisonRun: ~Escapable {
  enum Side {
    case rest, rpc
  }

  let rest: Span<UInt8>
  let rpc: Span<UInt8>
  let plan: ComparisonPlan
  /// Writes what differs, and reads what is in an `Any`.
  let codec: JSONCodec
  /// Whether texts are shown themselves.
  let keepsValues: Bool
  /// Before the paths of this run: where the `Any` is.
  let prefix: String
  /// How many `Any` are around.
  let embedding: Int

  var list = DifferenceList()
  /// The fields down to here, indices into ``ComparisonPlan/fields``.
  var path: [Int32] = []
  /// A stack: where the fields of the messages that are open begin on the rpc side.
  private var slots: [Int32] = []
  private var work = 0

  /// Fields and elements that are looked at, and what a message's table of fields costs in them; beyond, the comparison is
  /// given up.
  static let maximumWork = 4_000_000
  /// Places of a table that cost as much as a field that is looked at: each is written and read once.
  private static let slotsPerWork = 16
  private static let absent: Int32 = -1
  private static let done: Int32 = -2

  @_lifetime(copy rest, copy rpc)
  init(
    rest: Span<UInt8>, rpc: Span<UInt8>, plan: ComparisonPlan, codec: JSONCodec, keepsValues: Bool, prefix: String = "",
    embedding: Int = 0
  ) {
    self.rest = rest
    self.rpc = rpc
    self.plan = plan
    self.codec = codec
    self.keepsValues = keepsValues
    self.prefix = prefix
    self.embedding = embedding
  }

  var isExhausted: Bool { work > Self.maximumWork }
  var isOver: Bool { list.isFull || isExhausted }

  /// Counts a piece of work.
  mutating func spend(_ amount: Int = 1) { work &+= amount }

  // MARK: Messages

  /// Compares two messages of one type.
  mutating func message(_ node: Int, _ rest: Range<Int>, _ rpc: Range<Int>) throws(WireError) {
    let message = plan.messages[node]
    let base = slots.count
    // Elements without content may be many, in few bytes, of a type with a great many fields.
    spend(1 + Int(message.fieldsCount) / Self.slotsPerWork)
    slots.append(contentsOf: repeatElement(Self.absent, count: Int(message.fieldsCount)))
    try index(message, rpc, base)
    var offset = rest.lowerBound
    while offset < rest.upperBound, !isOver {
      let found = try next(.rest, offset, rest.upperBound, isItem: message.isMessageSet)
      offset = found.end
      guard let position = position(of: found, in: message) else {
        unknown(found, .rest)
        continue
      }
      let index = Int(message.fieldsStart) + position
      let other = slots[base + position]
      slots[base + position] = Self.done
      if other == Self.done || plan.fields[index].isIgnored { continue }
      path.append(Int32(index))
      offset = try field(
        plan.fields[index], found, rest.upperBound, other == Self.absent ? nil : Int(other), rpc.upperBound,
        isItem: message.isMessageSet)
      path.removeLast()
    }
    try leftOver(message, base, rpc)
    slots.removeLast(slots.count - base)
  }

  /// Notes where each field of the rpc side begins.
  private mutating func index(_ message: ComparedMessage, _ range: Range<Int>, _ base: Int) throws(WireError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      spend()
      let found = try next(.rpc, offset, range.upperBound, isItem: message.isMessageSet)
      if let position = position(of: found, in: message) {
        if slots[base + position] == Self.absent { slots[base + position] = Int32(truncatingIfNeeded: offset) }
      } else {
        unknown(found, .rpc)
      }
      offset = found.end
    }
  }

  private mutating func leftOver(_ message: ComparedMessage, _ base: Int, _ range: Range<Int>) throws(WireError) {
    for position in 0..<Int(message.fieldsCount) where slots[base + position] >= 0 {
      // What was given up has fields that nobody has looked for on the other side.
      if isOver { return }
      let index = Int(message.fieldsStart) + position
      let field = plan.fields[index]
      if field.isIgnored { continue }
      let found = try next(
        .rpc, Int(slots[base + position]), range.upperBound, isItem: message.isMessageSet)
      path.append(Int32(index))
      try one(.rpc, field, found, range.upperBound)
      path.removeLast()
    }
  }

  private func position(of found: Occurrence, in message: ComparedMessage) -> Int? {
    guard let position = plan.position(of: found.number, in: message) else { return nil }
    let field = plan.fields[Int(message.fieldsStart) + position]
    return message.isMessageSet || accepts(field, found.type) ? position : nil
  }

  /// - Returns: where the field ends on the rest side.
  private mutating func field(
    _ field: ComparedField, _ found: Occurrence, _ limit: Int, _ other: Int?, _ otherLimit: Int, isItem: Bool
  ) throws(WireError) -> Int {
    guard let other else {
      try one(.rest, field, found, limit)
      return field.cardinality == .singular ? found.end : try endOfRun(.rest, field, found, limit)
    }
    switch field.cardinality {
    case .singular:
      try value(field, found, try next(.rpc, other, otherLimit, isItem: isItem))
      return found.end
    case .repeated: return try elements(field, found.start, limit, other, otherLimit)
    case .map: return try entries(field, found.start, limit, other, otherLimit)
    }
  }

  /// A field that one side has alone.
  private mutating func one(
    _ side: Side, _ field: ComparedField, _ found: Occurrence, _ limit: Int
  ) throws(WireError) {
    if field.cardinality == .singular, !field.hasPresence, !field.isText, isDefault(field, found.raw) { return }
    let kind: Difference.Kind = side == .rest ? .missing : .extra
    let text = pathText
    if list.contains(kind, at: text) { return }
    let value: DifferenceValue
    if field.cardinality == .singular {
      value = describe(field, found, side)
    } else {
      value = Self.count(try countRun(side, field, found, limit), of: field)
    }
    report(kind, text, side == .rest ? value : .absent, side == .rpc ? value : .absent)
  }

  /// Whether a number means the same as none: the negative zero, or what a tolerance lets pass.
  private func isDefault(_ field: ComparedField, _ raw: UInt64) -> Bool {
    areEqual(field.kind, raw, 0, tolerance: field.tolerance)
  }

  // MARK: Reporting

  mutating func report(
    _ kind: Difference.Kind, _ path: String, _ rest: DifferenceValue, _ rpc: DifferenceValue
  ) {
    list.add(Difference(kind, at: path, rest: rest, rpc: rpc))
  }

  private mutating func unknown(_ found: Occurrence, _ side: Side) {
    let inner = pathText
    let text = inner.isEmpty ? "#\(found.number)" : "\(inner).#\(found.number)"
    let value = DifferenceValue.text("a field of \(found.end - found.start) bytes")
    report(.unknown, text, side == .rest ? value : .absent, side == .rpc ? value : .absent)
  }

  /// The path of the field that is being compared.
  var pathText: String {
    var text = prefix
    for index in path {
      let field = plan.fields[Int(index)]
      if !field.isHidden {
        if !text.isEmpty { text += "." }
        text += plan.names[Int(index)]
      }
      if field.cardinality != .singular { text += "[]" }
    }
    return text
  }
}
