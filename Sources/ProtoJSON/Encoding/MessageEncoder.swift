import Bytes
import ProtobufSchema

/// One run from wire bytes to JSON.
///
/// The first run takes the bytes as every serializer writes them: each field in one place. Bytes that concatenation
/// made (a list in two places, a singular field twice, a map key again) end it with ``isScattered``; the second, careful
/// run then puts each message in order before it writes it.
struct MessageEncoder: ~Escapable {
  let tables: TableView
  let schema: Schema
  let profile: JSONProfile
  let maximumDepth: Int
  /// Bytes of the output beyond which it is not written on.
  let maximumCount: Int
  /// Field paths to leave out.
  let omitting: [[Int]]
  let isCareful: Bool
  private var isScattered = false
  var memory: RunMemory
  var depth = 0
  /// Bytes that were put in order.
  var ordered = 0

  @_lifetime(copy tables)
  init(
    tables: TableView, schema: Schema, profile: JSONProfile, maximumDepth: Int, maximumCount: Int,
    omitting: [[Int]], isCareful: Bool, memory: RunMemory
  ) {
    self.tables = tables
    self.schema = schema
    self.profile = profile
    self.maximumDepth = maximumDepth
    self.maximumCount = maximumCount
    self.omitting = omitting
    self.isCareful = isCareful
    self.memory = memory
  }

  /// Whether the careful run may still write what this one could not.
  func mayFollow(_ fault: Fault) -> Bool { !isCareful && (isScattered || fault.kind != .wire) }

  /// A fault as the message around its field knows it. Nobody asks for the place where another run follows.
  @inline(never)
  func located(_ fault: Fault, in field: FieldPlan) -> Fault {
    mayFollow(fault) ? fault : fault.inside(tables.label(field))
  }

  @inline(never)
  mutating func scattered(_ offset: Int) -> Fault {
    isScattered = true
    return Fault(.wire, at: offset, "fields in one place each expected")
  }

  /// What the first run met may stand otherwise in the message as a whole: the careful run has the last word.
  mutating func mayBeReplaced() { isScattered = true }

  @inline(__always)
  mutating func descend(_ offset: Int) throws(Fault) {
    depth &+= 1
    guard depth <= maximumDepth else { throw tooDeep(offset) }
  }

  @inline(never)
  private func tooDeep(_ offset: Int) -> Fault {
    Fault(.depth, at: offset, "at most \(maximumDepth) levels of messages")
  }

  /// Few bytes can name many values with long names: what they become is bounded too.
  @inline(__always)
  func checkSize(_ output: borrowing ByteBuffer, _ offset: Int) throws(Fault) {
    guard output.count <= maximumCount else { throw Fault(.range, at: offset, "less JSON than this expected") }
  }

  // MARK: Messages

  /// Writes a message of any type: an object, or the form of a well-known type.
  mutating func value(
    _ kind: ValueKind, _ message: Int, _ reader: WireReader, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    let isLevel = kind.isLevel
    if isLevel { try descend(reader.offset) }
    try checkSize(output, reader.offset)
    if kind == .message || kind == .group {
      let start = output.count
      try members(message, reader, omit: omit, level: level, into: &output)
      close(start, into: &output)
    } else {
      try wellKnown(kind, message, reader, into: &output)
    }
    if isLevel { depth &-= 1 }
  }

  /// Makes an object of the members since `start`, each of which has a comma in front.
  @inline(__always)
  func close(_ start: Int, into output: inout ByteBuffer) {
    if output.count == start {
      output.append("{}")
    } else {
      output[start] = UInt8(ascii: "{")
      output.append(UInt8(ascii: "}"))
    }
  }

  /// Writes the members of a message, each as `,"name":value`.
  @inline(__always)
  mutating func members(
    _ message: Int, _ reader: WireReader, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    if tables.messages[message].isMessageSet {
      try messageSet(message, reader, into: &output)
    } else if isCareful {
      try carefulMembers(message, reader, omit: omit, level: level, into: &output)
    } else {
      try contiguousMembers(message, reader, omit: omit, level: level, into: &output)
    }
  }

  @inline(never)
  private mutating func carefulMembers(
    _ message: Int, _ reader: WireReader, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    if tables.isInOrder(tables.messages[message], reader, &memory) {
      return try contiguousMembers(message, reader, omit: omit, level: level, into: &output)
    }
    var ordered = memory.takeBuffer()
    defer { memory.give(&ordered) }
    try order(message, reader, into: &ordered)
    let span = ordered.span
    do throws(Fault) {
      try contiguousMembers(message, WireReader(span), omit: omit, level: level, into: &output)
    } catch {
      // Offsets in the copy would say nothing.
      throw error.moved(to: reader.offset)
    }
  }

  private mutating func contiguousMembers(
    _ message: Int, _ source: WireReader, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    var reader = WireReader(source.bytes, source.offset..<source.limit)
    let plan = tables.messages[message]
    var seen = SlotSet()
    var oneofs = SlotSet()
    var guess = Int(plan.fieldsStart)
    while !reader.isAtEnd {
      let start = reader.offset
      // Serializers write fields in the order of their numbers, which is mostly that of the schema: then the tag that
      // comes is known, and what it says need not be read.
      let type: WireType
      var index = guess
      if guess < Int(plan.fieldsEnd), reader.skipTag(of: tables.fields[guess]) {
        type = tables.fields[guess].nextType
      } else {
        let tag: WireTag
        do { tag = try reader.readTag() } catch { throw Fault(error) }
        type = tag.type
        index = tables.field(number: tag.number, of: plan)
        guard index >= 0, tables.fields[index].accepts(tag.type) else {
          do { try reader.skip(tag) } catch { throw Fault(error) }
          continue
        }
      }
      let field = tables.fields[index]
      guess = index &+ 1
      if field.isClosed, !tables.isNamed(field, valueAt: reader) {
        do { try reader.skip(WireTag(number: field.number, type: type)) } catch { throw Fault(error) }
        continue
      }
      if !seen.insert(Int(field.index), &memory) || (field.oneof >= 0 && !oneofs.insert(Int(field.oneof), &memory)) {
        throw scattered(start)
      }
      if omit != 0, isOmitted(field, omit, level) {
        do { try skipAll(field, type, &reader) } catch { throw Fault(error) }
        continue
      }
      do throws(Fault) {
        try member(field, type, &reader, omit: omit, level: level, into: &output)
      } catch {
        throw located(error, in: field)
      }
    }
    if plan.hasRequired, let field = tables.firstMissing(of: plan, seen) { throw .missing(field, at: source.offset) }
    if profile.emitDefaults || profile.unsetAsNull {
      writeUnset(message, seen, omit: omit, level: level, into: &output)
    }
    seen.close(&memory)
    oneofs.close(&memory)
  }

  // MARK: Omitting

  func isOmitted(_ field: FieldPlan, _ omit: UInt64, _ level: Int) -> Bool {
    var rest = omit
    while rest != 0 {
      let entry = rest.trailingZeroBitCount
      rest &= rest &- 1
      if omitting[entry].count == level + 1, omitting[entry][level] == Int(field.index) { return true }
    }
    return false
  }

  /// The paths that go on inside a field.
  func omitted(inside field: FieldPlan, _ omit: UInt64, _ level: Int) -> UInt64 {
    var inner: UInt64 = 0
    var rest = omit
    while rest != 0 {
      let entry = rest.trailingZeroBitCount
      rest &= rest &- 1
      if omitting[entry].count > level + 1, omitting[entry][level] == Int(field.index) { inner |= 1 &<< UInt64(entry) }
    }
    return inner
  }

  private func skipAll(_ field: FieldPlan, _ type: WireType, _ reader: inout WireReader) throws(WireError) {
    try reader.skip(WireTag(number: field.number, type: type))
    while field.shape != .singular, reader.isNext(field.number) { try reader.skip(try reader.readTag()) }
  }

  // MARK: Unset fields

  private func writeUnset(
    _ message: Int, _ seen: SlotSet, omit: UInt64, level: Int, into output: inout ByteBuffer
  ) {
    let plan = tables.messages[message]
    for index in Int(plan.fieldsStart)..<Int(plan.fieldsEnd) {
      let field = tables.fields[index]
      if seen.contains(Int(field.index)) || field.isExtension || field.oneof >= 0 { continue }
      if omit != 0, isOmitted(field, omit, level) { continue }
      if field.shape == .singular && field.hasPresence {
        // `null` would be a value of a `Value`.
        guard profile.unsetAsNull, !field.kind.acceptsNull else { continue }
        name(field, into: &output)
        output.append("null")
      } else if profile.emitDefaults {
        name(field, into: &output)
        defaultValue(field, into: &output)
      }
    }
  }

  /// Writes the value of an absent field: as declared, empty, zero, or `null` for a well-known type that is no object.
  func defaultValue(_ field: FieldPlan, into output: inout ByteBuffer) {
    if field.shape == .singular, declaredDefault(field, into: &output) { return }
    switch field.shape {
    case .map: output.append("{}")
    case .repeated, .packed: output.append("[]")
    case .singular:
      switch field.kind {
      case .message, .group, .item, .any, .structure: output.append("{}")
      case .listValue: output.append("[]")
      case .string, .bytes: output.append("\"\"")
      case .enumeration:
        let number = field.hasPresence ? tables.enums[Int(field.sub)].firstNumber : 0
        enumeration(number, Int(field.sub), into: &output)
      case .timestamp, .duration, .fieldMask, .value, .wrapper, .nullValue: output.append("null")
      default: number(0, field.kind, into: &output)
      }
    }
  }

  /// Writes `,"name":`.
  @inline(__always)
  func name(_ field: FieldPlan, into output: inout ByteBuffer) {
    output.append(pooled: tables.text, Int(field.quotedOffset), Int(field.quotedLength))
  }
}
