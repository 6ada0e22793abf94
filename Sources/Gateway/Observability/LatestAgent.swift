import Bytes

/// The program that the last call counted on a loop came from, and its key: calls of one client come in rows, so that most
/// need neither be parsed nor hashed.
struct LatestAgent: ~Copyable {
  private var agent = ByteBuffer()
  private var version = ByteBuffer()
  private var key: UInt64 = 0
  private var isKnown = false

  /// Longer fields are parsed each time.
  private static let longest = 256

  /// The key of what the two fields say.
  ///
  /// - Parameter find: makes it, the same for the same fields.
  mutating func key(
    _ agent: Span<UInt8>, _ version: Span<UInt8>, _ find: (Span<UInt8>, Span<UInt8>) -> UInt64
  ) -> UInt64 {
    if isKnown, ASCII.equal(self.agent.span, agent), ASCII.equal(self.version.span, version) { return key }
    let found = find(agent, version)
    isKnown = agent.count <= Self.longest && version.count <= Self.longest
    guard isKnown else { return found }
    self.agent.removeAll()
    self.agent.append(agent)
    self.version.removeAll()
    self.version.append(version)
    key = found
    return found
  }
}
