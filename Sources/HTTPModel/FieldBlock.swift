public import Bytes

/// A field section: headers or trailers in their order, kept as one run of HTTP/1 lines with a table beside it.
///
/// Each line is stored as `name: value\r\n`, so a section is sent by copying runs of lines; fields are removed by
/// marking them. Names keep their spelling and compare without case. The block owns its bytes and is reused:
/// ``removeAll()`` keeps the memory. It checks nothing: what may stand in a field is the parsers' business, see
/// ``FieldSyntax``.
public final class FieldBlock {
  /// One field: where its line, name and value lie.
  public struct Entry {
    public let name: FieldName
    public var isRemoved = false
    let nameLength: UInt32
    let line: UInt32
    let valueLength: UInt32

    /// Where the name is in the bytes of ``FieldBlock/withFields(_:)``.
    public var nameBytes: Range<Int> { Int(line)..<Int(line) + Int(nameLength) }
    /// Where the value is in the bytes of ``FieldBlock/withFields(_:)``.
    public var valueBytes: Range<Int> { valueOffset..<valueOffset + Int(valueLength) }
    var valueOffset: Int { Int(line) + Int(nameLength) + 2 }
    var end: Int { valueOffset + Int(valueLength) + 2 }
  }

  private var lines: ByteBuffer
  private var table = FieldTable()
  /// How many bodies read ``lines`` at present: meanwhile they must not move. See the package's manifest.
  private var loans = 0

  public init() {
    lines = ByteBuffer()
  }

  /// Entries of the table, removed ones too; indices are valid until ``removeAll()``.
  public var indices: Range<Int> { 0..<table.count }

  /// Fields that are not removed.
  public var count: Int { table.count - table.removed }
  public var isEmpty: Bool { count == 0 }

  /// Bytes of all lines, for budgets.
  public var byteCount: Int { lines.count }

  /// Bytes of memory that the lines take.
  public var capacity: Int { lines.capacity }

  public func removeAll() {
    checkLoans()
    lines.removeAll()
    table.removeAll()
  }

  // MARK: Adding

  public func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    open(FieldName(name), name.count, value.count)
    lines.append(line: name, value)
  }

  /// Appends a field whose name has been looked up already.
  public func append(_ name: Span<UInt8>, as known: FieldName, _ value: Span<UInt8>) {
    open(known, name.count, value.count)
    lines.append(line: name, value)
  }

  /// Appends a field under a known name, spelt in lower case.
  public func append(_ name: FieldName, _ value: Span<UInt8>) {
    open(name, name.text.utf8CodeUnitCount, value.count)
    lines.append(line: name.text, value)
  }

  public func append(_ name: FieldName, _ value: StaticString) {
    open(name, name.text.utf8CodeUnitCount, value.utf8CodeUnitCount)
    lines.append(line: name.text, value)
  }

  public func append(_ name: FieldName, _ value: String) {
    var value = value
    value.withUTF8 { append(name, unsafe Span(_unsafeElements: $0)) }
  }

  public func append(_ name: FieldName, decimal value: Int) {
    // `-` and the digits of a number of 64 bits.
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { room in
      var start = room.count
      var rest = value.magnitude
      repeat {
        start &-= 1
        unsafe room[start] = UInt8(truncatingIfNeeded: rest % 10) &+ 48
        rest /= 10
      } while rest > 0
      if value < 0 {
        start &-= 1
        unsafe room[start] = UInt8(ascii: "-")
      }
      append(name, unsafe Span(_unsafeElements: UnsafeBufferPointer(rebasing: room[start...])))
    }
  }

  public func append(_ name: String, _ value: String) {
    var (name, value) = (name, value)
    name.withUTF8 { name in
      value.withUTF8 { value in
        append(unsafe Span(_unsafeElements: name), unsafe Span(_unsafeElements: value))
      }
    }
  }

  /// Appends a field of another block, with a prefix before its name (`Trailer-`) if wanted.
  public func append(from other: FieldBlock, at index: Int, prefix: StaticString = "") {
    precondition(other !== self, "a field block cannot be added to itself")
    let entry = other.table[index]
    if prefix.utf8CodeUnitCount == 0 {
      open(entry.name, Int(entry.nameLength), Int(entry.valueLength))
      lines.append(other.lines, Int(entry.line)..<entry.end)
    } else {
      // The name as a whole may be a known one.
      let nameLength = Int(entry.nameLength) + prefix.utf8CodeUnitCount
      var name = ByteBuffer(minimumCapacity: nameLength)
      name.append(prefix)
      name.append(other.lines, Int(entry.line)..<Int(entry.line) + Int(entry.nameLength))
      open(FieldName(name.span), nameLength, Int(entry.valueLength))
      lines.append(prefix)
      lines.append(other.lines, Int(entry.line)..<entry.end)
    }
  }

  private func checkLoans() {
    precondition(loans == 0, "a field block was changed while its bytes were read")
  }

  private func open(_ name: FieldName, _ nameLength: Int, _ valueLength: Int) {
    checkLoans()
    // Some fields at least: growing to their number step by step would take a handful of pieces of memory.
    if lines.capacity == 0 { lines.reserve(256) }
    table.append(
      Entry(
        name: name, nameLength: UInt32(clamping: nameLength), line: UInt32(clamping: lines.count),
        valueLength: UInt32(clamping: valueLength)))
  }

  // MARK: Reading

  /// The entry at an index; look at `isRemoved` when walking ``indices``.
  public func entry(at index: Int) -> Entry { table[index] }

  /// The first field of a known name that is not removed.
  public func firstIndex(of name: FieldName) -> Int? { table.index(of: name, from: 0) }

  /// The first field of a known name that is not removed, at an index or behind it.
  public func nextIndex(of name: FieldName, from start: Int) -> Int? { table.index(of: name, from: start) }

  /// The first field of one of these names that is not removed, at an index or behind it.
  public func nextIndex(in names: FieldNames, from start: Int) -> Int? { table.index(in: names, from: start) }

  /// The first field of any name, compared without case.
  public func firstIndex(of name: Span<UInt8>) -> Int? {
    let known = FieldName(name)
    if known != .other { return firstIndex(of: known) }
    for index in indices where entry(at: index).name == .other && !entry(at: index).isRemoved {
      if withName(at: index, { ASCII.equalIgnoringCase($0, name) }) { return index }
    }
    return nil
  }

  public func contains(_ name: FieldName) -> Bool { firstIndex(of: name) != nil }

  /// Whether a field of one of these names was added, though it may be removed since; costs no search.
  public func mayContain(_ names: FieldNames) -> Bool { table.seen.intersects(names) }

  /// How many fields of this name there are.
  public func count(of name: FieldName) -> Int {
    var found = 0
    var index = 0
    while let next = table.index(of: name, from: index) {
      found += 1
      index = next + 1
    }
    return found
  }

  public func withName<R: ~Copyable, E: Error>(at index: Int, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let entry = table[index]
    loans &+= 1
    defer { loans &-= 1 }
    return try lines.withSpan(entry.nameBytes, body)
  }

  /// Calls the body with the bytes of all lines and the table that says what they are: for who reads every field, in
  /// one access. The body must not change the block.
  public func withFields<R: ~Copyable, E: Error>(
    _ body: (_ lines: Span<UInt8>, _ entries: Span<Entry>) throws(E) -> R
  ) throws(E) -> R {
    loans &+= 1
    defer { loans &-= 1 }
    return try lines.withSpan { (bytes) throws(E) in
      try table.withSpan { (entries) throws(E) in try body(bytes, entries) }
    }
  }

  public func withValue<R: ~Copyable, E: Error>(at index: Int, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let entry = table[index]
    loans &+= 1
    defer { loans &-= 1 }
    return try lines.withSpan(entry.valueBytes, body)
  }

  /// The first value of a known name as text, for control paths and logs.
  public func text(of name: FieldName) -> String? {
    firstIndex(of: name).map { text(at: $0) }
  }

  /// The first value of any name as text.
  public func text(of name: String) -> String? {
    firstIndex(of: Array(name.utf8).span).map { text(at: $0) }
  }

  public func text(at index: Int) -> String { withValue(at: index) { String(repairing: $0) } }
  public func name(at index: Int) -> String { withName(at: index) { String(repairing: $0) } }

  // MARK: Removing

  public func remove(at index: Int) { table.remove(at: index) }

  public func remove(_ name: FieldName) { table.remove(name) }

  /// Removes all fields of a name, compared without case.
  public func remove(named name: Span<UInt8>) {
    while let index = firstIndex(of: name) { remove(at: index) }
  }

  // MARK: Sending

  /// Appends all fields as HTTP/1 lines, without the blank line at the end.
  ///
  /// - Parameter omitting: names that are left out, as if they were removed.
  public func write(into output: inout ByteBuffer, omitting omitted: FieldNames = []) {
    if table.removed == 0, !table.seen.intersects(omitted) {
      output.append(lines)
      return
    }
    var start = 0
    var end = 0
    for index in indices {
      let entry = table[index]
      if entry.isRemoved || omitted.contains(entry.name) {
        if end > start { output.append(lines, start..<end) }
        start = entry.end
      }
      end = entry.end
    }
    if end > start { output.append(lines, start..<end) }
  }

  /// Appends all fields of another block that are not removed.
  public func append(contentsOf other: FieldBlock) {
    for index in other.indices where !other.entry(at: index).isRemoved { append(from: other, at: index) }
  }
}
