import Bytes
import ProtobufSchema

/// Maps: entries with the same key belong together, whatever their order.
extension ComparisonRun {
  private struct Entry {
    let key: Occurrence?
    let value: Occurrence?
    /// All of it, for the order of the wire.
    let content: Range<Int>
  }

  /// Compares the entries that begin at two offsets.
  ///
  /// - Returns: where they end on the rest side.
  mutating func entries(
    _ field: ComparedField, _ start: Int, _ limit: Int, _ other: Int, _ otherLimit: Int
  ) throws(WireError) -> Int {
    var left = Cursor(offset: start, limit: limit)
    var right = Cursor(offset: other, limit: otherLimit)
    let a = try hashedEntries(.rest, field, &left)
    let b = try hashedEntries(.rpc, field, &right)
    let message = plan.messages[Int(field.node)]
    guard message.keyField >= 0, message.valueField >= 0 else { return left.offset }
    var (isMissing, isExtra) = (false, false)
    var (i, j) = (0, 0)
    while i < a.count || j < b.count, !isOver {
      if j == b.count || i < a.count && a[i].hash < b[j].hash {
        isMissing = true
        i += 1
      } else if i == a.count || b[j].hash < a[i].hash {
        isExtra = true
        j += 1
      } else {
        try compare(a[i].element.content, b[j].element.content, plan.fields[Int(message.valueField)], message)
        i += 1
        j += 1
      }
    }
    let (shown, otherShown) = (Self.count(a.count, of: field), Self.count(b.count, of: field))
    // Not all entries may have been read.
    if isExhausted { return try skipRun(field, &left) }
    if isMissing { report(.missing, pathText, shown, otherShown) }
    if isExtra { report(.extra, pathText, shown, otherShown) }
    return left.offset
  }

  /// Entries in the order of the hashes of their keys.
  private mutating func hashedEntries(
    _ side: Side, _ field: ComparedField, _ cursor: inout Cursor
  ) throws(WireError) -> [Hashed] {
    let message = plan.messages[Int(field.node)]
    guard message.keyField >= 0 else { return [] }
    let key = plan.fields[Int(message.keyField)]
    var found: [Hashed] = []
    while !isExhausted, let entry = try next(side, field, &cursor) {
      let own = try only(1, side, entry.content)
      found.append(Hashed(hash: keyHash(key, own, side), element: entry))
    }
    found.sort { $0.hash < $1.hash }
    return found
  }

  private mutating func compare(
    _ left: Range<Int>, _ right: Range<Int>, _ field: ComparedField, _ message: ComparedMessage
  ) throws(WireError) {
    let (a, b) = (try only(2, .rest, left), try only(2, .rpc, right))
    // Without a value an entry has the default one.
    let none = Occurrence(number: 2, type: field.wireType, start: 0)
    path.append(message.valueField)
    try value(field, a ?? none, b ?? none)
    path.removeLast()
  }
}
