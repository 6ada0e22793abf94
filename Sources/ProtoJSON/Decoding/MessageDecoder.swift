import Bytes
import ProtobufSchema

/// One run from JSON to wire bytes.
struct MessageDecoder: ~Escapable {
  var cursor: JSONCursor
  let tables: TableView
  let schema: Schema
  let profile: JSONProfile
  let bound: [BoundField]
  /// Where members begin that the schema does not know.
  var unknownOffsets: [Int] = []
  var mask: MaskCollector
  /// Bytes that may still be read ahead in search of `@type`: nested values with it at the end would be read again
  /// for each level.
  var lookAhead: Int
  var memory: RunMemory

  @_lifetime(copy json, copy tables)
  init(
    _ json: Span<UInt8>, tables: TableView, schema: Schema, profile: JSONProfile, maximumDepth: Int,
    bound: [BoundField], collectsMask: Bool, memory: RunMemory
  ) {
    cursor = JSONCursor(json, maximumDepth: maximumDepth)
    self.tables = tables
    self.schema = schema
    self.profile = profile
    self.bound = bound
    self.memory = memory
    mask = MaskCollector(isActive: collectsMask)
    lookAhead = Swift.min(json.count, 1 << 40) * 8 + 4_096
  }

  /// What became of one value.
  enum Result {
    case set
    /// Set to the value that an absent field without presence has.
    case zero
    /// An unknown enum name of a lenient profile: as if it were not there.
    case dropped
  }

  // MARK: Objects

  /// Reads an object as the fields of a message.
  ///
  /// - Parameters:
  ///   - bindings: a bit per entry of ``bound`` that lies in this message.
  ///   - level: how many steps of their paths led here.
  ///   - skipsType: whether a member `@type` belongs to the `Any` around it.
  mutating func object(
    _ message: Int, bindings: UInt64, level: Int, skipsType: Bool = false, into output: inout ByteBuffer
  ) throws(Fault) {
    guard cursor.byte == UInt8(ascii: "{") else {
      return try emptyArrayAsObject(message, bindings: bindings, level: level, into: &output)
    }
    let plan = tables.messages[message]
    let begin = cursor.index
    var open = bindings
    var required = SlotSet()
    if try cursor.open(UInt8(ascii: "{")) {
      var seen = SlotSet()
      var oneofs = SlotSet()
      var guess = Int(plan.fieldsStart)
      var hasType = false
      repeat {
        let start = cursor.index
        guard let found = try isNext(guess, plan) ? guess : name(plan) else {
          if skipsType && isType(start) {
            guard !hasType else { throw Fault(.duplicate, at: start, "@type once") }
            hasType = true
            try cursor.skipString()
          } else {
            try unknownMember(start)
          }
          continue
        }
        guard seen.insert(found &- Int(plan.fieldsStart), &memory) else {
          throw Fault(.duplicate, at: start, "each field once, in one spelling")
        }
        guess = found &+ 1
        let isSet = try member(found, start: start, bindings: &open, level: level, oneofs: &oneofs, into: &output)
        if isSet, plan.hasRequired { _ = required.insert(found &- Int(plan.fieldsStart), &memory) }
      } while try cursor.next(UInt8(ascii: "{"))
      seen.close(&memory)
      oneofs.close(&memory)
    } else if mask.isActive {
      try mask.addEmptyMessage(at: cursor.index)
    }
    if plan.hasRequired { try tables.requireAll(of: plan, required, bound, bindings, level: level, at: begin) }
    required.close(&memory)
    if open != 0 { try appendBound(message, open, level: level, into: &output) }
  }

  /// Steps over the name and the colon of the field that is to be expected, if they stand here: members mostly come in
  /// the order of the schema.
  @inline(__always)
  private mutating func isNext(_ guess: Int, _ plan: MessagePlan) -> Bool {
    guard guess < Int(plan.fieldsEnd) else { return false }
    let field = tables.fields[guess]
    // Without the comma.
    guard cursor.skip(name: tables.text, Int(field.quotedOffset) &+ 1, Int(field.quotedLength) &- 1) else {
      return false
    }
    cursor.skipBlanks()
    return true
  }

  /// Reads the name and the colon of a member; nil when the message has no such field.
  private mutating func name(_ plan: MessagePlan) throws(Fault) -> Int? {
    guard let range = try cursor.plainString() else { return try escapedName(plan) }
    let key = NameKey(cursor.json, at: range.lowerBound, length: range.count)
    try cursor.colon()
    return tables.target(key, cursor.json, at: range.lowerBound, table: plan.slotsStart, mask: plan.slotsMask)
      .map { Int($0) }
  }

  private mutating func escapedName(_ plan: MessagePlan) throws(Fault) -> Int? {
    var text = memory.takeBuffer()
    try cursor.unescape(into: &text)
    try cursor.colon()
    let key = NameKey(text.span, at: 0, length: text.count)
    let found = tables.target(key, text.span, at: 0, table: plan.slotsStart, mask: plan.slotsMask)
    memory.give(&text)
    return found.map { Int($0) }
  }

  /// Whether the name at an offset is `@type`, however it is spelt.
  mutating func isType(_ start: Int) -> Bool {
    var probe = cursor
    probe.index = start
    if probe.skip("\"@type\"") { return true }
    var text = memory.takeBuffer()
    let isRead = (try? probe.unescape(into: &text)) != nil
    let isSame = isRead && ASCII.equal(text.span, "@type")
    memory.give(&text)
    return isSame
  }

  /// Refuses or skips the member whose name begins at an offset; the cursor is at its value.
  mutating func unknownMember(_ start: Int) throws(Fault) {
    guard profile.unknownFields != .reject else {
      throw Fault(.unknownField, at: start, "a field of the message expected; this name is unknown")
    }
    noteUnknown(start)
    try cursor.skipValue()
  }

  func hasRoomForUnknown() -> Bool { unknownOffsets.count < DecodingOutcome.maximumUnknownFields }

  mutating func noteUnknown(_ offset: Int) {
    if hasRoomForUnknown() { unknownOffsets.append(offset) }
  }

  // MARK: Members

  /// Reads the value of a field; false when that sets nothing.
  private mutating func member(
    _ index: Int, start: Int, bindings: inout UInt64, level: Int, oneofs: inout SlotSet,
    into output: inout ByteBuffer
  ) throws(Fault) -> Bool {
    let field = tables.fields[index]
    if cursor.byte == UInt8(ascii: "n"), !field.kind.acceptsNull || field.shape != .singular {
      try cursor.literal("null")
      if mask.isActive { try noteNull(field, at: start) }
      return false
    }
    if profile.isLenient, field.shape == .singular, skipsNothing(field) {
      if mask.isActive { try noteNull(field, at: start) }
      return false
    }
    if field.oneof >= 0 {
      // Two members are a fault of the sender's, even where the value of one turns out to be an enum name that is ignored:
      // whoever knows the name sees both. The runtimes of Go, JavaScript, Python and C++ see it so too.
      guard oneofs.insert(Int(field.oneof), &memory) else {
        throw Fault(.conflict, at: start, "at most one member of the oneof expected")
      }
    }
    if bindings != 0 || mask.isActive {
      return try watchedMember(field, start: start, bindings: &bindings, level: level, into: &output)
    }
    return try value(of: field, into: &output) != .dropped
  }

  /// Reads the value of a field, one or many, and drops what need not be written.
  @inline(__always)
  mutating func value(of field: FieldPlan, into output: inout ByteBuffer) throws(Fault) -> Result {
    switch field.shape {
    case .singular:
      let before = output.count
      let result = try tagged(field, bindings: 0, level: 0, into: &output)
      if result == .dropped || (result == .zero && !field.hasPresence) { output.truncate(to: before) }
      return result
    case .repeated: try repeated(field, into: &output)
    case .packed: try packed(field, into: &output)
    case .map: try map(field, into: &output)
    }
    return .set
  }

  /// Appends the tag and the value that stands here.
  @inline(__always)
  mutating func tagged(
    _ field: FieldPlan, bindings: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) -> Result {
    output.append(encodedTag: field.tag, length: field.tagLength)
    return try content(field, bindings: bindings, level: level, into: &output)
  }

  /// Appends the value that stands here, with its length if it has one, without the tag.
  mutating func content(
    _ field: FieldPlan, bindings: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) -> Result {
    if profile.isLenient, let result = try loose(field, into: &output) { return result }
    switch field.kind {
    case .string: return try string(into: &output) ? .zero : .set
    case .message:
      let start = output.beginLengthDelimited()
      try object(Int(field.sub), bindings: bindings, level: level, into: &output)
      output.endLengthDelimited(start)
      return .set
    case .group:
      try object(Int(field.sub), bindings: bindings, level: level, into: &output)
      output.append(encodedTag: field.endGroupTag, length: field.tagLength)
      return .set
    case .bytes: return try bytes(into: &output) ? .zero : .set
    case .item:
      let start = output.beginLengthDelimited()
      try wellKnown(tables.messages[Int(field.sub)].kind, Int(field.sub), into: &output)
      output.endLengthDelimited(start)
      output.append(MessageSetItem.end)
      return .set
    case .any, .timestamp, .duration, .fieldMask, .structure, .value, .listValue, .wrapper:
      let start = output.beginLengthDelimited()
      try wellKnown(field.kind, Int(field.sub), into: &output)
      output.endLengthDelimited(start)
      return .set
    default: return try scalar(field.kind, Int(field.sub), into: &output)
    }
  }
}
