/// Which program called, as operators read it.
package struct CallerName: Hashable, Sendable {
  /// The name of the product; empty when the caller did not say.
  package var agent: String
  /// Empty when the caller did not say.
  package var version: String

  package init(agent: String, version: String) {
    self.agent = agent
    self.version = version
  }
}

/// How often one caller was seen, and when last.
package struct CallerCount: Equatable, Sendable {
  package var caller: CallerName
  /// Calls that are certainly its own: where the table was full before it came, some of its own are missing.
  package var requests: UInt64
  /// Seconds since 1970.
  package var lastSeen: Int64

  package init(caller: CallerName, requests: UInt64, lastSeen: Int64) {
    self.caller = caller
    self.requests = requests
    self.lastSeen = lastSeen
  }
}

/// The callers that call most, in bounded room, however many there are.
///
/// Space-Saving (Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements in data streams,
/// 2005): when all places are taken the rarest gives way, and its count is kept as the newcomer's possible error. Who
/// makes more than a 64th of all calls is certainly in it. A known caller costs a search of 64 keys and no memory.
package struct CallerTable: Sendable {
  package static let capacity = 64

  private struct Entry {
    var caller: CallerName
    var count: UInt64
    /// Of the count, what may belong to who had this place before.
    var error: UInt64
    var lastSeen: Int64
  }

  /// Apart from the entries, so that the search runs over few cache lines.
  private var keys: [UInt64] = []
  private var entries: [Entry] = []
  /// All calls, those of forgotten callers too.
  package private(set) var total: UInt64 = 0

  package init() {}

  /// Counts one call.
  ///
  /// - Parameters:
  ///   - key: a hash of who called, the same for the same caller.
  ///   - seconds: since 1970.
  ///   - caller: asked for when the caller is not known yet.
  package mutating func record(_ key: UInt64, at seconds: Int64, _ caller: () -> CallerName) {
    total &+= 1
    for index in keys.indices where keys[index] == key {
      entries[index].count &+= 1
      entries[index].lastSeen = seconds
      return
    }
    guard keys.count == Self.capacity else {
      keys.append(key)
      entries.append(Entry(caller: caller(), count: 1, error: 0, lastSeen: seconds))
      return
    }
    var rarest = 0
    for index in entries.indices where entries[index].count < entries[rarest].count { rarest = index }
    let least = entries[rarest].count
    keys[rarest] = key
    entries[rarest] = Entry(caller: caller(), count: least &+ 1, error: least, lastSeen: seconds)
  }

  /// Who is in it, in no order.
  package var counts: [CallerCount] {
    entries.map { CallerCount(caller: $0.caller, requests: $0.count &- $0.error, lastSeen: $0.lastSeen) }
  }

  /// Several tables as one: most calls first, then by name.
  package static func merged(_ tables: [CallerTable], most: Int) -> [CallerCount] {
    var sums: [CallerName: CallerCount] = [:]
    for count in tables.flatMap(\.counts) {
      sums[count.caller, default: CallerCount(caller: count.caller, requests: 0, lastSeen: 0)].add(count)
    }
    let sorted = sums.values.sorted { left, right in
      (right.requests, left.caller.agent, left.caller.version) < (
        left.requests, right.caller.agent, right.caller.version
      )
    }
    return Array(sorted.prefix(most))
  }
}

extension CallerCount {
  fileprivate mutating func add(_ other: CallerCount) {
    requests &+= other.requests
    lastSeen = max(lastSeen, other.lastSeen)
  }
}
