import Bytes
import ProtobufSchema

/// Hashes of what values mean: equal for values that compare as equal, whatever the order of their fields and maps.
///
/// What has a tolerance, and what is in an `Any`, is left out: it is compared when hashes are equal. The key of the hash
/// is the process's own, so that nobody can choose values that meet.
extension ComparisonRun {
  mutating func hash(of element: Occurrence, _ field: ComparedField, _ side: Side) throws(WireError) -> UInt64 {
    if field.tolerance >= 0 { return 0 }
    if field.isText { return hash(bytes(side, element.content)) }
    guard field.isMessage else { return Self.mix(Self.canonical(field.kind, element.raw)) }
    if field.form == .any { return hash(Array(try typeName(side, element.content).utf8).span) }
    return try hash(of: Int(field.node), side, element.content)
  }

  func keyHash(_ field: ComparedField, _ key: Occurrence?, _ side: Side) -> UInt64 {
    if field.isText { return hash(bytes(side, key?.content ?? 0..<0)) }
    return Self.mix(Self.canonical(field.kind, key?.raw ?? 0))
  }

  private mutating func hash(of node: Int, _ side: Side, _ range: Range<Int>) throws(WireError) -> UInt64 {
    guard node >= 0 else { return 0 }
    let message = plan.messages[node]
    var sum: UInt64 = 0
    var offset = range.lowerBound
    while offset < range.upperBound {
      spend()
      let found = try next(side, offset, range.upperBound, isItem: message.isMessageSet)
      offset = found.end
      guard let position = plan.position(of: found.number, in: message) else { continue }
      let field = plan.fields[Int(message.fieldsStart) + position]
      if field.isIgnored || field.tolerance >= 0 { continue }
      var inner: UInt64
      switch field.cardinality {
      case .singular:
        let isNumber = !field.isText && !field.isMessage
        if isNumber, !field.hasPresence, Self.canonical(field.kind, found.raw) == 0 { continue }
        inner = try hash(of: found, field, side)
      case .repeated:
        var cursor = Cursor(offset: found.start, limit: range.upperBound)
        inner = 0
        while let element = try next(side, field, &cursor) {
          let one = try hash(of: element, field, side)
          inner = field.isUnordered ? inner &+ Self.mix(one) : Self.mix(inner ^ one)
        }
        offset = cursor.offset
      case .map:
        inner = try hash(ofEntry: found, field, side)
      }
      sum = sum &+ Self.mix(inner ^ Self.mix(UInt64(found.number)))
    }
    return sum
  }

  private mutating func hash(
    ofEntry entry: Occurrence, _ field: ComparedField, _ side: Side
  ) throws(WireError) -> UInt64 {
    let message = plan.messages[Int(field.node)]
    guard message.keyField >= 0, message.valueField >= 0 else { return 0 }
    let key = keyHash(plan.fields[Int(message.keyField)], try only(1, side, entry.content), side)
    let value = plan.fields[Int(message.valueField)]
    let none = Occurrence(number: 2, type: value.wireType, start: 0)
    return Self.mix(key ^ Self.mix(try hash(of: try only(2, side, entry.content) ?? none, value, side)))
  }

  private func hash(_ bytes: Span<UInt8>) -> UInt64 {
    UInt64(truncatingIfNeeded: KeyedHash.of(bytes))
  }

  /// Spreads every bit over all others (the finalizer of MurmurHash3 in the constants of Stafford's variant 13).
  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A hash whose key the process makes up at its start (SipHash, the standard library's).
enum KeyedHash {
  static func of(_ bytes: Span<UInt8>) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
