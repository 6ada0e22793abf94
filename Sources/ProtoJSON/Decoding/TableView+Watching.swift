import Bytes
import ProtobufSchema

/// Bound values by the tables: what a body in any form is watched for.
extension TableView {
  /// What the bound values have to do with one field.
  struct Watch {
    /// A bit for each that lies inside the field's message.
    var inner: UInt64 = 0
    /// The one of the field itself.
    var leaf: Int?
    /// Whether one lies in a sibling in the field's oneof.
    var isSibling = false
  }

  /// - Parameters:
  ///   - bindings: a bit per entry of `bound` that lies in the field's message.
  ///   - level: how many steps of their paths led there.
  func watch(_ bound: [BoundField], _ field: FieldPlan, _ bindings: UInt64, level: Int) -> Watch {
    var watch = Watch()
    var rest = bindings
    while rest != 0 {
      let entry = rest.trailingZeroBitCount
      rest &= rest &- 1
      let path = bound[entry].fieldPath
      guard level < path.count else { continue }
      if path[level] == Int(field.index) {
        if path.count == level + 1 { watch.leaf = entry } else { watch.inner |= 1 &<< UInt64(entry) }
      } else if field.oneof >= 0, isSibling(path[level], field) {
        watch.isSibling = true
      }
    }
    return watch
  }

  /// Whether a field of the same message, by its index there, is in the same oneof.
  private func isSibling(_ other: Int, _ field: FieldPlan) -> Bool {
    let start = Int(messages[Int(field.owner)].fieldsStart)
    guard other >= 0, start + other < fields.count else { return false }
    return fields[start + other].oneof == field.oneof
  }

  /// Checks that each required field of a message is in the body or bound by the request.
  ///
  /// - Parameter present: the indices of the fields that the body sets.
  func requireAll(
    of plan: MessagePlan, _ present: SlotSet, _ bound: [BoundField], _ bindings: UInt64, level: Int, at offset: Int
  ) throws(Fault) {
    var present = present
    var rest = bindings
    while rest != 0 {
      let path = bound[rest.trailingZeroBitCount].fieldPath
      rest &= rest &- 1
      if level < path.count, path[level] >= 0 { _ = present.insert(path[level]) }
    }
    if let field = firstMissing(of: plan, present) { throw .missing(field, at: offset) }
  }

  /// The same for the messages that only bound values make.
  func requireParents(
    _ bound: [BoundField], _ message: Int, _ bindings: UInt64, level: Int, at offset: Int
  ) throws(Fault) {
    let plan = messages[message]
    guard plan.reachesRequired else { return }
    var rest = bindings
    while rest != 0 {
      let path = bound[rest.trailingZeroBitCount].fieldPath
      rest &= rest &- 1
      guard path.count > level + 1, path[level] >= 0, path[level] < Int(plan.fieldsEnd - plan.fieldsStart) else {
        continue
      }
      let field = fields[Int(plan.fieldsStart) + path[level]]
      guard field.sub >= 0 else { continue }
      let inside = watch(bound, field, bindings, level: level).inner
      do throws(Fault) {
        try requireAll(of: messages[Int(field.sub)], SlotSet(), bound, inside, level: level + 1, at: offset)
        try requireParents(bound, Int(field.sub), inside, level: level + 1, at: offset)
      } catch {
        throw error.inside(label(field))
      }
    }
  }

  /// Appends bound values, the parents around them too.
  func append(
    _ bound: [BoundField], _ message: Int, _ bindings: UInt64, level: Int, into output: inout ByteBuffer
  ) {
    var rest = bindings
    let plan = messages[message]
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
      let field = fields[index]
      guard field.sub >= 0 else { continue }
      // All values under one parent go into one parent.
      var together: UInt64 = 1 &<< UInt64(entry)
      for other in bound.indices where rest & (1 &<< UInt64(other)) != 0 {
        if bound[other].fieldPath.count > level + 1, bound[other].fieldPath[level] == path[level] {
          together |= 1 &<< UInt64(other)
        }
      }
      rest &= ~together
      output.append(encodedTag: field.tag, length: field.tagLength)
      if field.kind == .group {
        append(bound, Int(field.sub), together, level: level + 1, into: &output)
        output.append(encodedTag: field.endGroupTag, length: field.tagLength)
      } else {
        let start = output.beginLengthDelimited()
        append(bound, Int(field.sub), together, level: level + 1, into: &output)
        output.endLengthDelimited(start)
        if field.kind == .item { output.append(MessageSetItem.end) }
      }
    }
  }
}
