import Glibc

/// Chooses among the candidates of one loop, given as their places in an array of weights.
///
/// A value that belongs to one loop. Choosing allocates nothing. Every algorithm takes a place to avoid, that of the
/// endpoint which has just failed: it is chosen only when there is no other.
package struct Balancer: Sendable {
  /// One candidate as the balancer sees it.
  package struct Candidate: Sendable {
    /// At least 1.
    package var weight: Int
    /// The ``StableHash`` of the endpoint's name.
    package var seed: UInt64
    /// Of the smooth rotation; the balancer's own.
    var lead = 0

    package init(weight: Int, seed: UInt64) {
      self.weight = max(1, weight)
      self.seed = seed
    }
  }

  package private(set) var candidates: [Candidate] = []
  private var total = 0
  private var areEqual = true
  private var next: Int
  private var random: UInt64

  /// - Parameter first: loops begin at different places, so that few requests are spread too.
  package init(first: Int) {
    next = max(0, first)
    random = StableHash.mix(UInt64(truncatingIfNeeded: first) &+ 0x9E37_79B9_7F4A_7C15)
  }

  /// Takes other candidates; a rotation goes on from where it is.
  package mutating func replace(_ candidates: some Sequence<Candidate>) {
    self.candidates.removeAll(keepingCapacity: true)
    self.candidates.append(contentsOf: candidates)
    total = self.candidates.reduce(0) { $0 + $1.weight }
    areEqual = self.candidates.allSatisfy { $0.weight == self.candidates.first?.weight }
  }

  // MARK: In turn

  /// In turn; with different weights by the smooth rotation, so that a heavy one gets its share spread and not in a row.
  ///
  /// - Returns: nil only without candidates.
  package mutating func inTurn(avoiding avoided: Int? = nil) -> Int? {
    guard !candidates.isEmpty else { return nil }
    if areEqual {
      next = next + 1 < candidates.count ? next + 1 : 0
      if next == avoided { next = next + 1 < candidates.count ? next + 1 : 0 }
      return next
    }
    var best = 0
    for index in candidates.indices {
      candidates[index].lead += candidates[index].weight
      if index == avoided, candidates.count > 1 { continue }
      if best == avoided || candidates[index].lead > candidates[best].lead { best = index }
    }
    candidates[best].lead -= total
    return best
  }

  // MARK: By load

  /// Of two that are drawn by weight, the one with less load for its weight (the power of two choices).
  ///
  /// - Parameter load: requests under way at a candidate.
  package mutating func leastLoaded(avoiding avoided: Int? = nil, _ load: (Int) -> Int) -> Int? {
    guard candidates.count > 1 else { return candidates.isEmpty ? nil : 0 }
    let first = draw(avoiding: avoided)
    var second = draw(avoiding: avoided)
    if second == first {
      second = first + 1 < candidates.count ? first + 1 : 0
      if second == avoided { second = second + 1 < candidates.count ? second + 1 : 0 }
    }
    // load / weight, without dividing; one more each, for the request that is to come.
    let one = (load(first) + 1) * candidates[second].weight
    let other = (load(second) + 1) * candidates[first].weight
    return other < one ? second : first
  }

  private mutating func draw(avoiding avoided: Int?) -> Int {
    var rest = Int(nextRandom() % UInt64(total))
    for index in candidates.indices {
      rest -= candidates[index].weight
      if rest < 0 {
        if index != avoided { return index }
        return index + 1 < candidates.count ? index + 1 : 0
      }
    }
    return candidates.count - 1
  }

  private mutating func nextRandom() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    return StableHash.mix(random)
  }

  // MARK: By key

  /// The candidate that the key belongs to: the one whose hash with the key is highest, by weight (rendezvous).
  ///
  /// When a candidate goes, only its keys move; when one comes, it takes its share and no other key moves.
  package func byKey(_ key: UInt64, avoiding avoided: Int? = nil) -> Int? {
    var best: Int?
    var highest = 0.0
    for index in candidates.indices where index != avoided || candidates.count == 1 {
      let score = score(index, key)
      if best == nil || score > highest { (best, highest) = (index, score) }
    }
    return best
  }

  /// With equal weights the order of the hashes is the order of the scores, and no logarithm is needed.
  private func score(_ index: Int, _ key: UInt64) -> Double {
    let candidate = candidates[index]
    // 53 bits, as many as the number has; never 0 and never 1.
    let part = (Double(StableHash.mix(candidate.seed ^ key) >> 11) + 0.5) * 0x1p-53
    return areEqual ? part : -Double(candidate.weight) / log(part)
  }
}
