import Metrics
import Migration
import RPC
import Synchronization

/// What the comparisons of a route found, as the admin endpoint shows it.
enum ShadowJSON {
  /// Differences that `/routes` lists.
  private static let maximumDifferences = 50

  /// `shadow` of a route; null as long as it was never shadowed.
  static func shadow(_ state: ShadowState?) -> JSONValue {
    guard let state else { return .null }
    let (top, unknown, samples, last) = state.findings.withLock { findings in
      (findings.top(maximumDifferences), findings.unknown, findings.samples.count, findings.lastMismatch)
    }
    let differences = top.map { entry -> JSONValue in
      [
        "path": .string(entry.place.path), "kind": .string(entry.place.kind.rawValue), "count": .integer(entry.count),
      ]
    }
    return [
      "match": .integer(state.match.value), "mismatch": .integer(state.mismatch.value),
      "error": .integer(state.error.value),
      "skipped": .object(state.skipCounts.map { .init($0.reason.rawValue, .integer($0.count)) }),
      "differences": .array(differences), "unknown_legacy_fields": .array(unknown.keys.sorted().map { .string($0) }),
      "samples": .integer(samples), "last_mismatch": last.map { .string($0) } ?? .null,
    ]
  }

  /// `dry_run` of a route; null as long as there was none.
  static func dryRun(_ state: ShadowState?) -> JSONValue {
    guard let counters = state?.dryRun else { return .null }
    let counts = (counters.ok.value, counters.refused.value, counters.misfit.value, counters.skipped.value)
    let requests = counts.0 + counts.1 + counts.2
    if requests + counts.3 == 0 { return .null }
    return [
      "requests": .integer(requests), "refused": .integer(counts.1), "misfit": .integer(counts.2),
      "skipped": .integer(counts.3),
    ]
  }

  /// The body of `GET /routes/{procedure}/samples`, newest first.
  static func samples(_ state: ShadowState?) -> JSONValue {
    let samples = state?.findings.withLock { $0.samples } ?? []
    return ["samples": .array(samples.reversed().map { sample($0) })]
  }

  private static func sample(_ sample: ShadowFindings.Sample) -> JSONValue {
    let differences = sample.differences.map { difference -> JSONValue in
      [
        "path": .string(difference.path), "kind": .string(difference.kind.rawValue), "rest": value(difference.rest),
        "rpc": value(difference.rpc),
      ]
    }
    return [
      "at": .string(sample.at), "request": .string(sample.request),
      "request_id": sample.requestID.isEmpty ? .null : .string(sample.requestID),
      "status": ["rest": .string(sample.rest), "rpc": .string(sample.rpc)], "differences": .array(differences),
    ]
  }

  private static func value(_ value: DifferenceValue) -> JSONValue {
    switch value {
    case .absent: .null
    case .literal(let text): .literal(text)
    case .text(let text): .string(text)
    }
  }
}
