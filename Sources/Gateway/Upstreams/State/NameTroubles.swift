import Synchronization

/// Which names of one upstream give no addresses, for all loops: what people are shown of it, and when it is worth a line
/// of the log. Safe from any thread.
final class NameTroubles: Sendable {
  private struct Trouble {
    /// Why there is no address now; nil: there is one.
    var reason: String?
    var isSaid = false
    var saidAt: UInt64?
  }

  /// Nanoseconds between two lines of one name, which may come and go.
  private static let pause: UInt64 = 60_000_000_000

  /// As many as the configuration has names.
  private let troubles = Mutex<[String: Trouble]>([:])

  /// A name gave no address.
  ///
  /// - Parameters:
  ///   - name: as it may be shown.
  ///   - now: nanoseconds of the monotonic clock.
  /// - Returns: whether to say so.
  func failed(_ name: String, _ reason: String, at now: UInt64) -> Bool {
    troubles.withLock { troubles in
      var trouble = troubles[name] ?? Trouble()
      defer { troubles[name] = trouble }
      trouble.reason = reason
      if trouble.isSaid { return false }
      if let said = trouble.saidAt, now &- said < Self.pause { return false }
      trouble.isSaid = true
      trouble.saidAt = now
      return true
    }
  }

  /// A name gave addresses.
  ///
  /// - Returns: whether to say so, because it was said that it gave none.
  func resolved(_ name: String) -> Bool {
    troubles.withLock { troubles in
      guard let trouble = troubles[name], trouble.reason != nil else { return false }
      troubles[name] = Trouble(saidAt: trouble.saidAt)
      return trouble.isSaid
    }
  }

  /// A name is no more in use.
  func forget(_ name: String) { troubles.withLock { _ = $0.removeValue(forKey: name) } }

  /// All that fail now with why, in the order of their names; empty when all have addresses.
  var text: String {
    troubles.withLock { troubles in
      troubles.compactMap { name, trouble in trouble.reason.map { "\(name): \($0)" } }.sorted().joined(separator: "; ")
    }
  }
}
