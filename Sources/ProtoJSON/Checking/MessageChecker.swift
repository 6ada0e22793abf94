import Bytes
import ProtobufSchema

/// One run over the wire bytes of a message from outside: whether a protobuf parser would take them, and whether they
/// agree with what the request binds elsewhere.
struct MessageChecker: ~Escapable {
  let wire: Span<UInt8>
  let tables: TableView
  let schema: Schema
  let profile: JSONProfile
  private let maximumDepth: Int
  let bound: [BoundField]
  /// A bit for each bound value that the bytes hold too.
  var met: UInt64 = 0
  /// Where the bound values that are messages lie: they may come in parts.
  var parts: [(entry: Int, field: FieldPlan, content: Range<Int>)] = []
  var mask: WireMask
  let memory: MemoryStore

  @_lifetime(copy wire, copy tables)
  init(
    _ wire: Span<UInt8>, tables: TableView, schema: Schema, profile: JSONProfile, maximumDepth: Int,
    bound: [BoundField], collectsMask: Bool, memory: MemoryStore
  ) {
    self.wire = wire
    self.tables = tables
    self.schema = schema
    self.profile = profile
    self.maximumDepth = maximumDepth
    self.bound = bound
    self.memory = memory
    mask = WireMask(isActive: collectsMask)
  }

  /// Checks the fields of one message.
  ///
  /// - Parameters:
  ///   - bindings: a bit per entry of ``bound`` that lies in this message.
  ///   - level: how many steps of their paths led here.
  mutating func message(
    _ index: Int, _ range: Range<Int>, bindings: UInt64, level: Int, depth: Int
  ) throws(Fault) {
    guard depth <= maximumDepth else {
      throw Fault(.depth, at: range.lowerBound, "at most \(maximumDepth) levels of messages expected")
    }
    let plan = tables.messages[index]
    var reader = WireReader(wire, range)
    if mask.isActive, reader.isAtEnd { try mask.addEmptyMessage(at: range.lowerBound) }
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try Self.checked { () throws(WireError) in try reader.readTag() }
      guard tag.type != .endGroup else { throw Fault(.wire, at: start, WireError(.group, at: start).reason) }
      if plan.isMessageSet {
        try item(plan, tag, &reader, depth: depth)
        continue
      }
      let found = tables.field(number: tag.number, of: plan)
      guard found >= 0 else {
        try Self.checked { () throws(WireError) in try reader.skip(tag) }
        continue
      }
      let field = tables.fields[found]
      do {
        try value(field, tag, &reader, start, bindings: bindings, level: level, depth: depth)
      } catch {
        throw error.inside(step(field, range.lowerBound..<start))
      }
    }
  }

  /// Checks one message of a message set; of a type that is not known it may be anything.
  private mutating func item(
    _ plan: MessagePlan, _ tag: WireTag, _ reader: inout WireReader, depth: Int
  ) throws(Fault) {
    let item = try Self.checked { () throws(WireError) in try MessageSetItem(tag, &reader) }
    guard let item else { return }
    let found = tables.field(number: item.type, of: plan)
    guard found >= 0 else { return }
    let field = tables.fields[found]
    do {
      try message(Int(field.sub), item.content, bindings: 0, level: 0, depth: depth + 1)
    } catch {
      throw error.inside(tables.label(field))
    }
  }

  private mutating func value(
    _ field: FieldPlan, _ tag: WireTag, _ reader: inout WireReader, _ start: Int, bindings: UInt64, level: Int,
    depth: Int
  ) throws(Fault) {
    guard tag.type == field.wireType else {
      let isList = field.shape == .repeated || field.shape == .packed
      if isList, tag.type == .lengthDelimited, field.kind.isPackable {
        let list = try Self.checked { () throws(WireError) in try reader.readLengthDelimited() }
        try packed(field, list)
        if mask.isActive { try mask.add(leaf: name(of: field), at: start) }
      } else {
        // To every parser a field of another wire type is an unknown one.
        try Self.checked { () throws(WireError) in try reader.skip(tag) }
      }
      return
    }
    let content = try Self.checked { () throws(WireError) in
      switch tag.type {
      case .lengthDelimited: return try reader.readLengthDelimited()
      case .startGroup: return try reader.readGroup(tag.number)
      default:
        let from = reader.offset
        try reader.skip(tag)
        return from..<reader.offset
      }
    }
    var inner: UInt64 = 0
    if bindings != 0 { inner = try compare(field, content, start, bindings, level) }
    let isPlain = field.shape == .singular && (field.kind == .message || field.kind == .group)
    let wasActive = mask.isActive
    if wasActive {
      if isPlain {
        try mask.enter(name(of: field), at: start)
      } else {
        try mask.add(leaf: name(of: field), at: start)
        mask.isActive = false
      }
    }
    switch field.kind {
    case .string: try text(field, content)
    case _ where field.kind.isScalar: break
    default: try message(Int(field.sub), content, bindings: inner, level: level + 1, depth: depth + 1)
    }
    if wasActive {
      if isPlain { mask.leave() }
      mask.isActive = true
    }
  }

  // MARK: Values

  private func text(_ field: FieldPlan, _ content: Range<Int>) throws(Fault) {
    guard field.validatesUTF8, !UTF8Validation.isValid(wire.extracting(content)) else { return }
    throw Fault(.utf8, at: content.lowerBound, "a string in UTF-8 expected")
  }

  private func packed(_ field: FieldPlan, _ list: Range<Int>) throws(Fault) {
    var reader = WireReader(wire, list)
    try Self.checked { () throws(WireError) in
      while !reader.isAtEnd {
        switch field.wireType {
        case .fixed32: _ = try reader.readFixed32()
        case .fixed64: _ = try reader.readFixed64()
        default: _ = try reader.readVarint()
        }
      }
    }
  }

  private static func checked<Value>(_ read: () throws(WireError) -> Value) throws(Fault) -> Value {
    do throws(WireError) { return try read() } catch { throw Fault(.wire, at: error.offset, error.reason) }
  }

  // MARK: Names

  func name(of field: FieldPlan) -> String {
    let declared = schema.messages[Int(field.owner)].fields[Int(field.index)]
    return declared.extensionName ?? declared.name
  }

  /// A field as a step of an error's path; of a repeated one with the number of the element.
  private func step(_ field: FieldPlan, _ before: Range<Int>) -> String {
    let name = schema.messages[Int(field.owner)].fields[Int(field.index)].jsonName
    guard field.shape == .repeated else { return name }
    var reader = WireReader(wire, before)
    var index = 0
    // What lies before the fault was read without one.
    while !reader.isAtEnd, let tag = try? reader.readTag(), (try? reader.skip(tag)) != nil {
      if tag.number == field.number { index += 1 }
    }
    return "\(name)[\(index)]"
  }
}
