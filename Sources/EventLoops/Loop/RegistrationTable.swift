/// The registrations of one loop, by slot. Freed slots are used again, last freed first.
struct RegistrationTable {
  struct Entry {
    var handler: (any ReadinessHandler)?
    var descriptor: CInt
    var interest: Readiness
    var isExclusive: Bool
    /// Whether the kernel's set holds the descriptor at present.
    var isInKernel: Bool
  }

  private struct Slot {
    var generation: UInt32 = 0
    var entry: Entry?
  }

  private var slots: ContiguousArray<Slot> = []
  private var free: ContiguousArray<UInt32> = []

  /// Registrations at present.
  var count: Int { slots.count - free.count }

  mutating func insert(_ entry: Entry) -> Registration {
    if let slot = free.popLast() {
      slots[Int(slot)].entry = entry
      return Registration(slot: slot, generation: slots[Int(slot)].generation)
    }
    slots.append(Slot(entry: entry))
    return Registration(slot: UInt32(slots.count - 1), generation: 0)
  }

  /// Who is to be told of an event; nil when its registration is over.
  @inline(__always)
  func handler(of registration: Registration) -> (any ReadinessHandler)? {
    let slot = Int(registration.slot)
    guard slot < slots.count, slots[slot].generation == registration.generation else { return nil }
    return slots[slot].entry?.handler
  }

  subscript(registration: Registration) -> Entry? {
    let slot = Int(registration.slot)
    guard slot < slots.count, slots[slot].generation == registration.generation else { return nil }
    return slots[slot].entry
  }

  mutating func update(_ registration: Registration, interest: Readiness, isInKernel: Bool) {
    let slot = Int(registration.slot)
    guard slot < slots.count, slots[slot].generation == registration.generation else { return }
    slots[slot].entry?.interest = interest
    slots[slot].entry?.isInKernel = isInKernel
  }

  /// - Returns: the handler before, to be released outside of this call.
  mutating func replaceHandler(
    of registration: Registration, with handler: any ReadinessHandler
  ) -> (any ReadinessHandler)? {
    let slot = Int(registration.slot)
    guard slot < slots.count, slots[slot].generation == registration.generation else { return nil }
    let before = slots[slot].entry?.handler
    slots[slot].entry?.handler = handler
    return before
  }

  /// Ends a registration.
  ///
  /// - Returns: what it held, so that the handler is released outside of this call: its end may call back here.
  mutating func remove(_ registration: Registration) -> Entry? {
    let slot = Int(registration.slot)
    guard slot < slots.count, slots[slot].generation == registration.generation else { return nil }
    guard let entry = slots[slot].entry.take() else { return nil }
    slots[slot].generation &+= 1
    free.append(registration.slot)
    return entry
  }

  /// Ends all registrations.
  mutating func removeAll() -> [Entry] {
    var entries: [Entry] = []
    for index in slots.indices {
      guard let entry = slots[index].entry.take() else { continue }
      slots[index].generation &+= 1
      free.append(UInt32(index))
      entries.append(entry)
    }
    return entries
  }
}
