import Configuration
import Migration
import Synchronization

/// What one loop counts of one side of a route, since the start; read by whoever watches.
///
/// Only its loop writes, so counting is a load and a store: no lock, nothing that another core waits for.
final class SideFigures: Sendable {
  /// How a call ended as its side's doing.
  enum Outcome: Int {
    case fine
    case failure
    case clientError
  }

  private static let requests = 0
  private static let failures = 1
  private static let clientErrors = 2
  private static let matches = 3
  private static let mismatches = 4
  private static let latencies = 5

  private let cells: InlineArray<69, Atomic<UInt64>> = InlineArray { _ in Atomic(0) }

  /// On its loop.
  ///
  /// - Parameter nanoseconds: nil for a stream, whose length says nothing.
  func count(_ outcome: Outcome, nanoseconds: UInt64?) {
    increment(Self.requests)
    switch outcome {
    case .fine: break
    case .failure: increment(Self.failures)
    case .clientError: increment(Self.clientErrors)
    }
    if let nanoseconds { increment(Self.latencies &+ LatencyBuckets.bucket(of: nanoseconds)) }
  }

  /// An answer of this side was compared with the other's. On its loop.
  func count(match: Bool) { increment(match ? Self.matches : Self.mismatches) }

  private func increment(_ cell: Int) {
    cells[cell].store(cells[cell].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// From any thread; what is being counted at this moment may be in it in part.
  func add(to counts: inout SideCounts) {
    counts.requests &+= cells[Self.requests].load(ordering: .relaxed)
    counts.failures &+= cells[Self.failures].load(ordering: .relaxed)
    counts.clientErrors &+= cells[Self.clientErrors].load(ordering: .relaxed)
    counts.matches &+= cells[Self.matches].load(ordering: .relaxed)
    counts.mismatches &+= cells[Self.mismatches].load(ordering: .relaxed)
    for bucket in counts.latencies.indices {
      counts.latencies[bucket] &+= UInt32(
        truncatingIfNeeded: cells[Self.latencies &+ bucket].load(ordering: .relaxed))
    }
  }
}

/// How often each caller's calls counted in the present window, so that one of them cannot move a route alone.
///
/// A sketch of fixed size: callers that share a cell share what they may make up, of failures and successes alike.
final class KeyWeights: Sendable {
  private static let count = 4096

  private let cells: InlineArray<4096, Atomic<UInt32>> = InlineArray { _ in Atomic(0) }
  /// Calls of one cell that count.
  private let limit: Atomic<UInt32>

  init(limit: UInt64) { self.limit = Atomic(UInt32(clamping: limit)) }

  /// What one caller may make up of so many calls, or of those that the guard needs at least.
  static func limit(_ settings: RouteSettings.Guard, of calls: UInt64) -> UInt64 {
    let calls = Swift.max(UInt64(settings.minimumRequests), calls)
    return Swift.max(1, calls &* UInt64(settings.maximumKeyShare) / 10_000)
  }

  /// Whether one more call of a caller counts. From any loop.
  func admits(_ key: UInt64) -> Bool {
    let cell = Int(truncatingIfNeeded: key & UInt64(Self.count - 1))
    return cells[cell].wrappingAdd(1, ordering: .relaxed).oldValue < limit.load(ordering: .relaxed)
  }

  func allow(_ calls: UInt64) { limit.store(UInt32(clamping: calls), ordering: .relaxed) }

  func clear() {
    for cell in cells.indices { cells[cell].store(0, ordering: .relaxed) }
  }
}

/// The figures of all routes, loop by loop, kept over reloads.
final class FigureRegistry: Sendable {
  private struct Block {
    let side: RouteSettings.Side
    let shard: Int
    let figures: SideFigures
  }

  private struct Entry {
    var blocks: [Block] = []
    var weights: KeyWeights?
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// The figures of one side on one loop, made when they are first asked for.
  func figures(of procedure: String, _ side: RouteSettings.Side, shard: Int) -> SideFigures {
    entries.withLock { entries in
      if let known = entries[procedure]?.blocks.first(where: { $0.side == side && $0.shard == shard }) {
        return known.figures
      }
      let figures = SideFigures()
      entries[procedure, default: Entry()].blocks.append(Block(side: side, shard: shard, figures: figures))
      return figures
    }
  }

  /// What callers weigh on the rpc side.
  func weights(of procedure: String, _ settings: RouteSettings.Guard) -> KeyWeights {
    entries.withLock { entries in
      let weights = entries[procedure]?.weights ?? KeyWeights(limit: KeyWeights.limit(settings, of: 0))
      entries[procedure, default: Entry()].weights = weights
      return weights
    }
  }

  /// Lets go what belongs to other procedures than these.
  func keep(only procedures: Set<String>) {
    entries.withLock { entries in
      for procedure in entries.keys where !procedures.contains(procedure) { entries[procedure] = nil }
    }
  }

  /// Procedures that are known.
  var procedures: [String] { entries.withLock { Array($0.keys) } }

  /// All that was ever counted, over all loops; nil: the route was never used.
  func totals(of procedure: String) -> (rest: SideCounts, rpc: SideCounts)? {
    guard let blocks = entries.withLock({ $0[procedure]?.blocks }), !blocks.isEmpty else { return nil }
    var totals = (rest: SideCounts(), rpc: SideCounts())
    for block in blocks {
      switch block.side {
      case .rest: block.figures.add(to: &totals.rest)
      case .rpc: block.figures.add(to: &totals.rpc)
      }
    }
    return totals
  }
}
