import Synchronization

/// The shared resources of the process by what makes them the same after a reload. It holds none of them: they live as
/// long as a snapshot has them.
final class ResourceRegistry<Identity: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    weak var resource: SharedResource<Value>?
  }

  private let entries = Mutex<[Identity: Entry]>([:])

  init() {}

  /// The resource of an identity: the one that is there, else a new one.
  func resource(_ identity: Identity, _ make: () -> SharedResource<Value>) -> SharedResource<Value> {
    entries.withLock { entries in
      if let known = entries[identity]?.resource { return known }
      entries = entries.filter { $0.value.resource != nil }
      let made = make()
      entries[identity] = Entry(resource: made)
      return made
    }
  }
}
