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

  /// Reads the value of a field while values are bound in its message or a mask is gathered; false when that sets nothing,
  /// as an enum name does that is unknown and ignored. Such a field is in no mask either: it would be cleared.
  mutating func watchedMember(
    _ field: FieldPlan, start: Int, bindings: inout UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) -> Bool {
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
      mask.isActive = false
      if field.shape == .singular {
        result = try tagged(field, bindings: 0, level: 0, into: &output)
      } else {
        result = try value(of: field, into: &output)
      }
      mask.isActive = wasActive
      if wasActive, result != .dropped { try mask.add(leaf: name(of: field), at: start) }
    }
    if let leaf {
      let wire = bound[leaf].wire
      guard result == .dropped || ASCII.equal(output.span.extracting(before..<output.count), wire.span) else {
        throw Fault(.conflict, at: start, "the value that the request binds elsewhere expected")
      }
    }
    if result == .dropped {
      output.truncate(to: before)
      return false
    }
    if result == .zero && !field.hasPresence && field.shape == .singular { output.truncate(to: before) }
    bindings &= ~inner
    if let leaf { bindings &= ~(1 &<< UInt64(leaf)) }
    return true
  }

  /// The bindings inside a field, and the one of the field itself.
  private func select(
    _ field: FieldPlan, _ start: Int, _ bindings: UInt64, _ level: Int
  ) throws(Fault) -> (inner: UInt64, leaf: Int?) {
    let watch = tables.watch(bound, field, bindings, level: level)
    guard !watch.isSibling else {
      throw Fault(.conflict, at: start, "no member of the oneof expected: the request binds another one")
    }
    return (watch.inner, watch.leaf)
  }

  /// Appends bound values that the body lacks, missing parents whole.
  func appendBound(
    _ message: Int, _ bindings: UInt64, level: Int, into output: inout ByteBuffer
  ) throws(Fault) {
    try tables.requireParents(bound, message, bindings, level: level, at: cursor.index)
    tables.append(bound, message, bindings, level: level, into: &output)
  }
}
