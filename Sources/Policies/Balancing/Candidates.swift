/// Which of an upstream's endpoints are used now.
package enum Candidates {
  /// What the choice hangs on, of one endpoint.
  package struct Member: Sendable {
    /// Lower ones are used first (RFC 2782); the others when none of these can be.
    package var priority: Int
    package var isLocal: Bool
    package var isUsable: Bool

    package init(priority: Int, isLocal: Bool, isUsable: Bool) {
      self.priority = priority
      self.isLocal = isLocal
      self.isUsable = isUsable
    }
  }

  /// The places of those that are used, in order; none only when there are no members.
  ///
  /// With fewer usable ones than the threshold all of the first priority are used: the rest would only break under what
  /// all were made for, and who calls them unusable may be wrong. Else those of the lowest priority that has a usable
  /// one; of these the local ones alone, as long as at least half of the local ones can be used.
  ///
  /// - Parameter threshold: parts per 10,000 of all members.
  package static func choose(_ members: [Member], threshold: Int) -> [Int] {
    let usable = members.indices.filter { members[$0].isUsable }
    guard let first = members.map(\.priority).min() else { return [] }
    if usable.isEmpty || usable.count * 10_000 < members.count * threshold {
      return members.indices.filter { members[$0].priority == first }
    }
    let priority = usable.map { members[$0].priority }.min() ?? first
    let tier = usable.filter { members[$0].priority == priority }
    let near = tier.filter { members[$0].isLocal }
    let allNear = members.count { $0.isLocal && $0.priority == priority }
    return !near.isEmpty && near.count * 2 >= allNear ? near : tier
  }
}
