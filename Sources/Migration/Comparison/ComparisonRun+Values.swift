import Bytes
import ProtoJSON
import ProtobufSchema

/// Single values.
extension ComparisonRun {
  /// Compares two values of a field, or two elements of it.
  mutating func value(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) throws(WireError) {
    spend()
    if field.isMessage {
      try content(field, left, right)
    } else if field.isText {
      if !areSame(left.content, right.content) { changed(field, left, right) }
    } else if !areEqual(field.kind, left.raw, right.raw, tolerance: field.tolerance) {
      changed(field, left, right)
    }
  }

  private mutating func changed(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) {
    let text = pathText
    if list.contains(.changed, at: text) { return }
    report(.changed, text, describe(field, left, .rest), describe(field, right, .rpc))
  }

  /// Whether the bytes of two ranges are the same.
  func areSame(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    ASCII.equal(rest.extracting(left), rpc.extracting(right))
  }

  func areEqual(_ kind: Field.Kind, _ left: UInt64, _ right: UInt64, tolerance: Int32) -> Bool {
    if Self.canonical(kind, left) == Self.canonical(kind, right) { return true }
    guard tolerance >= 0 else { return false }
    return plan.tolerances[Int(tolerance)].allows(Self.number(kind, left), Self.number(kind, right))
  }

  /// The bits of a number so that equal ones have equal bits: one zero, one NaN.
  static func canonical(_ kind: Field.Kind, _ raw: UInt64) -> UInt64 {
    switch kind {
    case .double:
      let value = Double(bitPattern: raw)
      return value == 0 ? 0 : value.isNaN ? Double.nan.bitPattern : raw
    case .float:
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: raw))
      return value == 0 ? 0 : value.isNaN ? UInt64(Float.nan.bitPattern) : raw
    case .bool: return raw == 0 ? 0 : 1
    case .int32, .enum: return UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw)))
    case .uint32, .sint32: return raw & 0xFFFF_FFFF
    default: return raw
    }
  }

  static func number(_ kind: Field.Kind, _ raw: UInt64) -> Double {
    switch kind {
    case .double: Double(bitPattern: raw)
    case .float: Double(Float(bitPattern: UInt32(truncatingIfNeeded: raw)))
    case .uint64, .uint32, .fixed64, .fixed32: Double(raw)
    case .sint32, .sint64: Double(ZigZag.decode(raw))
    case .sfixed32: Double(Int32(truncatingIfNeeded: raw))
    default: Double(Int64(bitPattern: raw))
    }
  }

  // MARK: Messages

  private mutating func content(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) throws(WireError) {
    let node = Int(field.node)
    guard node >= 0 else { return }
    switch field.form {
    case .plain, .structure, .listValue, .fieldMask: try message(node, left.content, right.content)
    case .timestamp, .duration: try time(field, left, right)
    case .wrapper: try wrapped(field, left, right)
    case .value: try dynamic(field, left, right)
    case .any: try any(field, left, right)
    }
  }

  private mutating func time(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) throws(WireError) {
    let (a, b) = (try moment(.rest, left.content), try moment(.rpc, right.content))
    if a == b { return }
    if field.tolerance >= 0 {
      let distance = Double(a.seconds &- b.seconds) * 1e9 + Double(Int64(a.nanos) - Int64(b.nanos))
      if plan.tolerances[Int(field.tolerance)].allows(distance, 0) { return }
    }
    changed(field, left, right)
  }

  private func moment(_ side: Side, _ range: Range<Int>) throws(WireError) -> (seconds: Int64, nanos: Int32) {
    let seconds = try only(1, side, range)?.raw ?? 0
    let nanos = try only(2, side, range)?.raw ?? 0
    return (Int64(bitPattern: seconds), Int32(truncatingIfNeeded: nanos))
  }

  private mutating func wrapped(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) throws(WireError) {
    guard let index = plan.messages[Int(field.node)].fields.first else { return }
    let inner = plan.fields[index]
    let (a, b) = (try only(1, .rest, left.content), try only(1, .rpc, right.content))
    let isSame =
      inner.isText
      ? areSame(a?.content ?? 0..<0, b?.content ?? 0..<0)
      : areEqual(inner.kind, a?.raw ?? 0, b?.raw ?? 0, tolerance: field.tolerance)
    if !isSame { changed(field, left, right) }
  }

  /// Two values of `google.protobuf.Value`: what a value is tells its only field.
  private mutating func dynamic(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) throws(WireError) {
    let message = plan.messages[Int(field.node)]
    let a = left.content.isEmpty ? nil : try next(.rest, left.content.lowerBound, left.content.upperBound)
    let b = right.content.isEmpty ? nil : try next(.rpc, right.content.lowerBound, right.content.upperBound)
    if let a, let b, a.number == b.number, let position = plan.position(of: a.number, in: message) {
      let index = Int(message.fieldsStart) + position
      path.append(Int32(index))
      try value(plan.fields[index], a, b)
      path.removeLast()
    } else if a != nil || b != nil {
      report(.type, pathText, describe(field, left, .rest), describe(field, right, .rpc))
    }
  }

  // MARK: Any

  private static var maximumEmbedding: Int { 4 }

  private mutating func any(_ field: ComparedField, _ left: Occurrence, _ right: Occurrence) throws(WireError) {
    let (name, otherName) = (try typeName(.rest, left.content), try typeName(.rpc, right.content))
    guard name == otherName else {
      return report(.changed, pathText, .text(name), .text(otherName))
    }
    let a = try only(2, .rest, left.content)?.content ?? 0..<0
    let b = try only(2, .rpc, right.content)?.content ?? 0..<0
    if areSame(a, b) { return }
    guard embedding < Self.maximumEmbedding, let type = plan.schema.messageIndex(named: name) else {
      return changed(field, left, right)
    }
    var restInner = ByteBuffer()
    var rpcInner = ByteBuffer()
    do throws(JSONError) {
      try codec.normalize(rest.extracting(a), message: type, into: &restInner)
      try codec.normalize(rpc.extracting(b), message: type, into: &rpcInner)
    } catch {
      return changed(field, left, right)
    }
    spend(a.count + b.count)
    var run = ComparisonRun(
      rest: restInner.span, rpc: rpcInner.span, plan: plan.plan(embedding: type), codec: codec,
      keepsValues: keepsValues, prefix: pathText, embedding: embedding + 1)
    try run.whole()
    let isSecret = field.isSecret
    for found in run.list.all {
      let (shown, otherShown) =
        isSecret ? (Self.redacted(found.rest), Self.redacted(found.rpc)) : (found.rest, found.rpc)
      report(found.kind, found.path, shown, otherShown)
    }
    if run.isExhausted { spend(Self.maximumWork) }
  }

  private static func redacted(_ value: DifferenceValue) -> DifferenceValue {
    value == .absent ? .absent : Self.hidden
  }

  /// What stands behind the last slash of a type's URL.
  func typeName(_ side: Side, _ range: Range<Int>) throws(WireError) -> String {
    guard let url = try only(1, side, range)?.content else { return "" }
    let text = bytes(side, url)
    var start = 0
    for index in text.indices where text[index] == UInt8(ascii: "/") { start = index + 1 }
    return String(repairing: text.extracting(start..<Swift.min(text.count, start + 512)))
  }

  /// Compares the two messages as wholes.
  mutating func whole() throws(WireError) {
    guard let root = plan.messages.first else { return }
    let (left, right) = (rest.indices, rpc.indices)
    switch root.form {
    case .plain, .structure, .listValue, .fieldMask: try message(0, left, right)
    case .timestamp, .duration, .wrapper, .value, .any:
      // As the one field of a message that has no name.
      let field = ComparedField(
        number: 0, kind: .message, cardinality: .singular, form: root.form, node: 0, enumIndex: -1, tolerance: -1,
        hasPresence: true, isIgnored: false, isUnordered: false, isSecret: false, isHidden: true)
      try value(
        field, Occurrence(number: 0, type: .lengthDelimited, start: 0, content: left, end: left.count),
        Occurrence(number: 0, type: .lengthDelimited, start: 0, content: right, end: right.count))
    }
  }
}
