import Bytes
import ProtobufSchema

/// One run from wire bytes to the same message in the form in which a serializer writes it.
///
/// The first run takes the bytes as they come, each field in one place. Bytes that concatenation made end it with
/// ``isScattered``; the second, careful run sorts the fields of each message that is not in order. It copies nothing for
/// that: a message in several parts is a list of ranges of the input.
struct WireNormalizer: ~Escapable {
  let bytes: Span<UInt8>
  let tables: TableView
  let maximumDepth: Int
  let unknownFields: UnknownWireFields
  let isCareful: Bool
  private(set) var isScattered = false
  private var depth = 0
  var memory: RunMemory

  @_lifetime(copy bytes, copy tables)
  init(
    _ bytes: Span<UInt8>, tables: TableView, maximumDepth: Int, unknownFields: UnknownWireFields, isCareful: Bool,
    memory: RunMemory
  ) {
    self.bytes = bytes
    self.tables = tables
    self.maximumDepth = maximumDepth
    self.unknownFields = unknownFields
    self.isCareful = isCareful
    self.memory = memory
  }

  @inline(never)
  mutating func scattered(_ offset: Int) -> Fault {
    isScattered = true
    return Fault(.wire, at: offset, "fields in one place each expected")
  }

  // MARK: Messages

  /// Appends the content of a message that is one range.
  mutating func message(_ index: Int, _ range: Range<Int>, into output: inout ByteBuffer) throws(Fault) {
    try descend(range.lowerBound)
    let plan = tables.messages[index]
    if plan.isMessageSet || (isCareful && !tables.isInOrder(plan, WireReader(bytes, range), &memory)) {
      try merge(plan, [range], into: &output)
    } else {
      try contiguous(plan, range, into: &output)
    }
    depth &-= 1
  }

  /// Appends the content of a message that several parts make.
  mutating func message(_ index: Int, parts: [Range<Int>], into output: inout ByteBuffer) throws(Fault) {
    guard let first = parts.first else { return try message(index, 0..<0, into: &output) }
    guard parts.count > 1 else { return try message(index, first, into: &output) }
    try descend(first.lowerBound)
    try merge(tables.messages[index], parts, into: &output)
    depth &-= 1
  }

  private mutating func descend(_ offset: Int) throws(Fault) {
    depth &+= 1
    guard depth <= maximumDepth else { throw Fault(.depth, at: offset, "at most \(maximumDepth) levels of messages") }
  }

  private mutating func contiguous(
    _ plan: MessagePlan, _ range: Range<Int>, into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(bytes, range)
    var seen = SlotSet()
    var oneofs = SlotSet()
    var guess = Int(plan.fieldsStart)
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try tag(&reader)
      let index = field(tag.number, plan, guess)
      guard index >= 0, tables.fields[index].accepts(tag.type),
        tables.isNamed(tables.fields[index], valueAt: reader)
      else {
        try skip(tag, &reader)
        keep(start..<reader.offset, into: &output)
        continue
      }
      let field = tables.fields[index]
      guess = index &+ 1
      guard seen.insert(Int(field.index), &memory), field.oneof < 0 || oneofs.insert(Int(field.oneof), &memory) else {
        throw scattered(start)
      }
      do throws(Fault) {
        switch field.shape {
        case .singular: try singular(field, &reader, into: &output)
        case .repeated, .packed: try list(field, tag, &reader, into: &output)
        case .map: try map(field, &reader, into: &output)
        }
      } catch {
        throw error.inside(tables.label(field))
      }
    }
    try requireAll(plan, seen, range.lowerBound)
    seen.close(&memory)
    oneofs.close(&memory)
  }

  func requireAll(_ plan: MessagePlan, _ seen: SlotSet, _ offset: Int) throws(Fault) {
    if plan.hasRequired, let field = tables.firstMissing(of: plan, seen) { throw .missing(field, at: offset) }
  }

  /// The field with a number, by a guess first; -1 when the message has none.
  @inline(__always)
  func field(_ number: UInt32, _ plan: MessagePlan, _ guess: Int) -> Int {
    if guess < Int(plan.fieldsEnd), tables.fields[guess].number == number { return guess }
    return tables.field(number: number, of: plan)
  }

  // MARK: Unknown fields

  func keep(_ range: Range<Int>, into output: inout ByteBuffer) {
    if unknownFields == .keep { output.append(bytes.extracting(range)) }
  }

  /// Keeps numbers that a closed enum lacks behind its list.
  func keep(_ numbers: [UInt64], of field: FieldPlan, into output: inout ByteBuffer) {
    guard unknownFields == .keep else { return }
    for number in numbers {
      output.append(tag: field.number, .varint)
      output.append(varint: number)
    }
  }
}

extension FieldPlan {
  /// Whether the bytes are of the field's type; other types are unknown fields, as every protobuf parser takes them.
  @inline(__always)
  func accepts(_ type: WireType) -> Bool {
    self.wireType == type
      || (type == .lengthDelimited && (self.shape == .packed || self.shape == .repeated) && self.kind.isPackable)
  }
}
