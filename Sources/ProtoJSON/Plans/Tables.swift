import Bytes

/// The flat tables of a schema and a profile.
struct Tables: Sendable {
  var fields: [FieldRecord] = []
  var messages: [MessagePlan] = []
  var enums: [EnumPlan] = []
  var enumValues: [EnumValuePlan] = []
  var slots: [NameSlot] = []
  /// Global field indices by number, -1 for none.
  var direct: [Int32] = []
  /// Global field indices in order of their number.
  var sorted: [Int32] = []
  /// Names, plain and quoted, with 32 bytes of padding behind the last.
  var text: [UInt8] = []
  /// Plans of `Struct`, `Value` and `ListValue`, -1 when the schema lacks them.
  var structure: Int32 = -1
  var value: Int32 = -1
  var listValue: Int32 = -1
}

/// The fields of all messages.
@safe
struct FieldList {
  // The array is one of the codec's constant tables: its memory would move only with a change.
  private let base: UnsafePointer<FieldRecord>?
  let count: Int

  init(_ records: borrowing [FieldRecord]) {
    unsafe base = records.withUnsafeBufferPointer { $0.baseAddress }
    count = records.count
  }

  @inline(__always)
  subscript(index: Int) -> FieldPlan {
    precondition(index >= 0 && index < count, "field outside the tables")
    return unsafe FieldPlan(base.unsafelyUnwrapped + index)
  }
}

/// The tables as spans: what a run of the codec reads, without reference counts.
struct TableView: ~Escapable {
  let fields: FieldList
  let messages: Span<MessagePlan>
  let enums: Span<EnumPlan>
  let enumValues: Span<EnumValuePlan>
  let slots: Span<NameSlot>
  let direct: Span<Int32>
  let sorted: Span<Int32>
  let text: Span<UInt8>
  let structure: Int32
  let value: Int32
  let listValue: Int32

  @_lifetime(borrow tables)
  init(_ tables: borrowing Tables) {
    fields = FieldList(tables.fields)
    messages = tables.messages.span
    enums = tables.enums.span
    enumValues = tables.enumValues.span
    slots = tables.slots.span
    direct = tables.direct.span
    sorted = tables.sorted.span
    text = tables.text.span
    structure = tables.structure
    value = tables.value
    listValue = tables.listValue
  }

  /// Whether a name in `source` is the one of a key whose first and last bytes were compared already.
  @inline(__always)
  func agrees(_ key: NameKey, _ wanted: NameKey, _ source: Span<UInt8>, at start: Int) -> Bool {
    guard key.first == wanted.first, key.last == wanted.last, key.length == wanted.length else { return false }
    return key.length <= 16 || agreesInTheMiddle(key, source, at: start)
  }

  private func agreesInTheMiddle(_ key: NameKey, _ source: Span<UInt8>, at start: Int) -> Bool {
    var index = 8
    while index < Int(key.length) &- 8 {
      // Of the last word what was compared already.
      let at = Swift.min(index, Int(key.length) &- 16)
      if text.word(at: Int(key.offset) &+ at, length: 8) != source.word(at: start &+ at, length: 8) { return false }
      index &+= 8
    }
    return true
  }

  /// The target of a name in one table; nil when it is not there.
  @inline(__always)
  func target(_ wanted: NameKey, _ source: Span<UInt8>, at start: Int, table: Int32, mask: Int32) -> Int32? {
    var slot = wanted.hash & Int(mask)
    while true {
      let entry = slots[Int(table) &+ slot]
      if !entry.isUsed { return nil }
      if agrees(entry.key, wanted, source, at: start) { return entry.target }
      slot = (slot &+ 1) & Int(mask)
    }
  }

  /// The global index of the field with a number; -1 when the message has none.
  @inline(__always)
  func field(number: UInt32, of plan: MessagePlan) -> Int {
    if number < UInt32(bitPattern: plan.directCount) { return Int(direct[Int(plan.directStart) &+ Int(number)]) }
    return field(highNumber: number, of: plan)
  }

  private func field(highNumber number: UInt32, of plan: MessagePlan) -> Int {
    var low = 0
    var high = Int(plan.sortedCount)
    while low < high {
      let middle = (low &+ high) / 2
      let index = Int(sorted[Int(plan.sortedStart) &+ middle])
      let found = fields[index].number
      if found == number { return index }
      if found < number { low = middle &+ 1 } else { high = middle }
    }
    return -1
  }

  /// The name of a field as it is written.
  func label(_ field: FieldPlan) -> String {
    String(repairing: text.extracting(Int(field.name.offset)..<Int(field.name.offset + field.name.length)))
  }

  /// The first required field of a message that is not in a set of indices; its label, nil when all are there.
  func firstMissing(of plan: MessagePlan, _ present: SlotSet) -> String? {
    for index in Int(plan.fieldsStart)..<Int(plan.fieldsEnd) {
      let field = fields[index]
      if field.isRequired, !present.contains(Int(field.index)) { return label(field) }
    }
    return nil
  }

  /// The value plan of an enum number; nil when it has no name.
  @inline(__always)
  func enumValue(_ number: Int32, of plan: EnumPlan) -> EnumValuePlan? {
    // Most enums count up from 0 without gaps.
    if number >= 0, number < plan.valuesCount {
      let guess = enumValues[Int(plan.valuesStart) &+ Int(number)]
      if guess.number == number { return guess }
    }
    return enumValue(searching: number, of: plan)
  }

  private func enumValue(searching number: Int32, of plan: EnumPlan) -> EnumValuePlan? {
    var low = 0
    var high = Int(plan.valuesCount)
    while low < high {
      let middle = (low &+ high) / 2
      let found = enumValues[Int(plan.valuesStart) &+ middle]
      if found.number == number { return found }
      if found.number < number { low = middle &+ 1 } else { high = middle }
    }
    return nil
  }
}
