/// The table of a ``FieldBlock``: what its fields are called and where they lie.
///
/// Flat memory that nobody else refers to: a head's fields are added and looked up some dozen times for a request, and an
/// array would count a reference for each look and ask for each change whether it is shared.
@safe
struct FieldTable: ~Copyable {
  typealias Entry = FieldBlock.Entry

  private var entries: UnsafeMutablePointer<Entry>?
  private var allocated = 0
  private(set) var count = 0
  /// How many of them are marked as removed.
  private(set) var removed = 0
  /// Known names that were added since the table was cleared: most look-ups are for names that are not there.
  private(set) var seen = FieldNames()

  init() { unsafe entries = nil }

  // An entry refers to nothing, so there is nothing to deinitialise.
  deinit { unsafe entries?.deallocate() }

  /// The entries, removed ones too. They must not be used after the table was changed.
  @inline(__always)
  var span: Span<Entry> {
    @_lifetime(borrow self)
    get {
      guard let entries = unsafe entries else { return Span() }
      let span = unsafe Span(_unsafeStart: entries, count: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Calls the body with ``span``, for tables that are stored in a class: there it cannot leave the access that made it.
  @inline(__always)
  func withSpan<R: ~Copyable, E: Error>(_ body: (Span<Entry>) throws(E) -> R) throws(E) -> R { try body(span) }

  /// The entry at an index; traps outside.
  @inline(__always)
  subscript(index: Int) -> Entry {
    precondition(index >= 0 && index < count, "field index outside the block")
    // Where there is an entry there is memory.
    return unsafe entries.unsafelyUnwrapped[index]
  }

  @inline(__always)
  mutating func append(_ entry: Entry) {
    seen.formUnion(FieldNames(entry.name))
    if count == allocated { grow() }
    unsafe (entries.unsafelyUnwrapped + count).initialize(to: entry)
    count &+= 1
  }

  @inline(never)
  private mutating func grow() {
    let size = Swift.max(8, allocated * 2)
    let fresh = UnsafeMutablePointer<Entry>.allocate(capacity: size)
    if let entries = unsafe entries {
      unsafe fresh.moveInitialize(from: entries, count: count)
      unsafe entries.deallocate()
    }
    unsafe entries = fresh
    allocated = size
  }

  /// Forgets all entries and keeps the memory.
  mutating func removeAll() {
    count = 0
    removed = 0
    seen = []
  }

  // MARK: Looking up

  /// The next field of a name that is not removed, at an index or behind it.
  @inline(__always)
  func index(of name: FieldName, from start: Int) -> Int? {
    guard name == .other || seen.contains(name) else { return nil }
    return find(from: start) { $0 == name }
  }

  /// The next field of one of these names that is not removed, at an index or behind it.
  @inline(__always)
  func index(in names: FieldNames, from start: Int) -> Int? {
    guard seen.intersects(names) else { return nil }
    return find(from: start) { names.contains($0) }
  }

  @inline(__always)
  private func find(from start: Int, _ isWanted: (FieldName) -> Bool) -> Int? {
    precondition(start >= 0, "field index outside the block")
    guard let entries = unsafe entries else { return nil }
    var index = start
    while index < count {
      let entry = unsafe entries + index
      if unsafe isWanted(entry.pointee.name) && !entry.pointee.isRemoved { return index }
      index &+= 1
    }
    return nil
  }

  // MARK: Removing

  mutating func remove(at index: Int) {
    guard !self[index].isRemoved else { return }
    unsafe entries.unsafelyUnwrapped[index].isRemoved = true
    removed &+= 1
  }

  mutating func remove(_ name: FieldName) {
    guard name == .other || seen.contains(name) else { return }
    for index in 0..<count where self[index].name == name { remove(at: index) }
  }
}
