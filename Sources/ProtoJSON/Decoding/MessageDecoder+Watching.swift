import Bytes
import ProtobufSchema

/// Bound values and the update mask: what only some requests need.
extension MessageDecoder {
  /// The proto name of a field.
  private func name(of field: FieldPlan) -> String {
    let declared = schema.messages[Int(field.owner)].fields[Int(field.index)]
    return declared.extensionName ?? declared.name
  }

  /// Lists a field that the body sets to null.
  mutating func noteNull(_ field: FieldPlan, at offset: Int) throws(Fault) {
    try mask.add(leaf: name(of: field), at: offset)
  }

  /// Reads the value of a field while values are bound in its message or a mask is gathered.
  mutating func watchedMember(
    _ field: FieldPlan, start: Int, bindings: inout UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    let (inner, leaf) = try select(field, start, bindings, level)
    let before = output.count
    let descends = field.shape == .singular && (field.kind == .message || field.kind == .group)
    let wasActive = mask.isActive
    var result = Result.set
    if descends {
      if wasActive { mask.enter(name(of: field)) }
      result = try tagged(field, bindings: inner, level: level + 1, into: &output)
      if wasActive { mask.leave() }
    } else {
      guard inner == 0 else {
        throw Fault(.conflict, at: start, "no value here: a part of it is bound by the request")
      }
      if wasActive {
        try mask.add(leaf: name(of: field), at: start)
        mask.isActive = false
      }
      if field.shape == .singular {
        result = try tagged(field, bindings: 0, level: 0, into: &output)
      } else {
        result = try value(of: field, into: &output)
      }
      mask.isActive = wasActive
    }
    if let leaf {
      let wire = bound[leaf].wire
      guard result == .dropped || ASCII.equal(output.span.extracting(before..<output.count), wire.span) else {
        throw Fault(.conflict, at: start, "the value that the request binds elsewhere expected")
      }
    }
    if result == .dropped {
      output.truncate(to: before)
      return
    }
    if result == .zero && !field.hasPresence && field.shape == .singular { output.truncate(to: before) }
    bindings &= ~inner
    if let leaf { bindings &= ~(1 &<< UInt64(leaf)) }
  }

  /// The bindings inside a field, and the one of the field itself.
  private func select(
    _ field: FieldPlan, _ start: Int, _ bindings: UInt64, _ level: Int
  ) throws(Fault) -> (inner: UInt64, leaf: Int?) {
    var inner: UInt64 = 0
    var leaf: Int?
    var rest = bindings
    while rest != 0 {
      let entry = rest.trailingZeroBitCount
      rest &= rest &- 1
      let path = bound[entry].fieldPath
      guard level < path.count else { continue }
      if path[level] == Int(field.index) {
        if path.count == level + 1 { leaf = entry } else { inner |= 1 &<< UInt64(entry) }
      } else if field.oneof >= 0, isSibling(path[level], field) {
        throw Fault(.conflict, at: start, "no member of the oneof expected: the request binds another one")
      }
    }
    return (inner, leaf)
  }

  /// Checks that each required field is in the body or bound by the request.
  func requireAll(
    _ plan: MessagePlan, _ set: SlotSet, _ bindings: UInt64, level: Int, at offset: Int
  ) throws(Fault) {
    var present = set
    var rest = bindings
    while rest != 0 {
      let path = bound[rest.trailingZeroBitCount].fieldPath
      rest &= rest &- 1
      if level < path.count, path[level] >= 0 { _ = present.insert(path[level]) }
    }
    if let field = tables.firstMissing(of: plan, present) { throw .missing(field, at: offset) }
  }

  /// Whether a field of the same message, by its index there, is in the same oneof.
  private func isSibling(_ other: Int, _ field: FieldPlan) -> Bool {
    let start = Int(tables.messages[Int(field.owner)].fieldsStart)
    guard other >= 0, start + other < tables.fields.count else { return false }
    return tables.fields[start + other].oneof == field.oneof
  }

  /// Appends bound values that the body lacks, missing parents whole.
  func appendBound(
    _ message: Int, _ bindings: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    var rest = bindings
    let plan = tables.messages[message]
    while rest != 0 {
      let entry = rest.trailingZeroBitCount
      rest &= rest &- 1
      let path = bound[entry].fieldPath
      guard level < path.count else { continue }
      if path.count == level + 1 {
        output.append(bound[entry].wire)
        continue
      }
      let index = Int(plan.fieldsStart) + path[level]
      guard path[level] >= 0, index < Int(plan.fieldsEnd) else { continue }
      let field = tables.fields[index]
      guard field.sub >= 0 else { continue }
      // All values under one parent go into one parent.
      var together: UInt64 = 1 &<< UInt64(entry)
      for other in bound.indices where rest & (1 &<< UInt64(other)) != 0 {
        if bound[other].fieldPath.count > level + 1, bound[other].fieldPath[level] == path[level] {
          together |= 1 &<< UInt64(other)
        }
      }
      rest &= ~together
      let inner = tables.messages[Int(field.sub)]
      if inner.hasRequired {
        do throws(Fault) {
          try requireAll(inner, SlotSet(), together, level: level + 1, at: cursor.index)
        } catch {
          throw error.inside(tables.label(field))
        }
      }
      output.append(encodedTag: field.tag, length: field.tagLength)
      if field.kind == .group {
        try appendBound(Int(field.sub), together, level: level + 1, into: &output)
        output.append(encodedTag: field.endGroupTag, length: field.tagLength)
      } else {
        let start = output.beginLengthDelimited()
        try appendBound(Int(field.sub), together, level: level + 1, into: &output)
        output.endLengthDelimited(start)
        if field.kind == .item { output.append(MessageSetItem.end) }
      }
    }
  }
}
