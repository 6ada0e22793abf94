/// What one side did: calls by how they ended for their callers, how long they took, and how its answers compared.
package struct SideCounts: Sendable, Equatable {
  /// All that count: not those whose caller left, not those of testers.
  package var requests: UInt64 = 0
  /// The side's own fault.
  package var failures: UInt64 = 0
  /// Codes that are the caller's fault, as far as one side can tell.
  package var clientErrors: UInt64 = 0
  /// Of comparisons with the other side's answers.
  package var matches: UInt64 = 0
  package var mismatches: UInt64 = 0
  /// Calls by ``LatencyBuckets``; streams are not among them.
  package var latencies = InlineArray<64, UInt32>(repeating: 0)

  package init() {}

  package var comparisons: UInt64 { matches &+ mismatches }
  package var errorRate: Double { Self.rate(failures, requests) }
  var clientErrorRate: Double { Self.rate(clientErrors, requests) }
  var mismatchRate: Double { Self.rate(mismatches, comparisons) }
  package var isEmpty: Bool { requests == 0 && comparisons == 0 }

  private static func rate(_ part: UInt64, _ whole: UInt64) -> Double {
    whole == 0 ? 0 : Double(part) / Double(whole)
  }

  package var measured: UInt64 {
    var sum: UInt64 = 0
    for bucket in latencies.indices { sum &+= UInt64(latencies[bucket]) }
    return sum
  }

  /// A quantile of the latencies in nanoseconds, straight within its bucket; nil without any.
  ///
  /// - Parameter part: 0 to 1.
  package func latency(at part: Double) -> Double? {
    let all = measured
    guard all > 0 else { return nil }
    let wanted = part * Double(all)
    var before = 0.0
    for bucket in latencies.indices where latencies[bucket] > 0 {
      let here = Double(latencies[bucket])
      if before + here >= wanted {
        let start = Double(LatencyBuckets.start(of: bucket))
        let width = Double(LatencyBuckets.start(of: bucket + 1)) - start
        return start + width * Swift.max(0, wanted - before) / here
      }
      before += here
    }
    return Double(LatencyBuckets.start(of: LatencyBuckets.count))
  }

  package static func += (sum: inout SideCounts, more: SideCounts) {
    sum.combine(more) {
      $0 &+ $1
    } _: {
      $0 &+ $1
    }
  }

  package static func -= (sum: inout SideCounts, less: SideCounts) {
    sum.combine(less) {
      $0 &- $1
    } _: {
      $0 &- $1
    }
  }

  private mutating func combine(
    _ other: SideCounts, _ wide: (UInt64, UInt64) -> UInt64, _ narrow: (UInt32, UInt32) -> UInt32
  ) {
    requests = wide(requests, other.requests)
    failures = wide(failures, other.failures)
    clientErrors = wide(clientErrors, other.clientErrors)
    matches = wide(matches, other.matches)
    mismatches = wide(mismatches, other.mismatches)
    for bucket in latencies.indices { latencies[bucket] = narrow(latencies[bucket], other.latencies[bucket]) }
  }

  package static func == (left: SideCounts, right: SideCounts) -> Bool {
    for bucket in left.latencies.indices where left.latencies[bucket] != right.latencies[bucket] { return false }
    return (left.requests, left.failures, left.clientErrors, left.matches, left.mismatches)
      == (right.requests, right.failures, right.clientErrors, right.matches, right.mismatches)
  }
}
