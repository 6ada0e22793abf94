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
      }
    }
  }
}
