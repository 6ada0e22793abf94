package import Configuration

/// What a guard makes of the figures of both sides in the same window.
package enum GuardJudgement: Sendable, Equatable {
  /// Which limit was passed: the label of a metric.
  package enum Limit: String, Sendable, CaseIterable {
    case errorRate = "error_rate"
    case errorRateRatio = "error_rate_ratio"
    case clientErrorRatio = "client_error_ratio"
    case latencyRatio = "latency_ratio"
    case mismatchRate = "mismatch_rate"
  }

  /// Not enough was seen; how many of how many.
  case waiting(seen: UInt64, of: UInt64)
  case content
  case exceeded(Limit, String)

  /// - Parameters:
  ///   - rpc: of the side that is watched.
  ///   - rest: of the one it is measured against.
  package init(_ settings: RouteSettings.Guard, rpc: SideCounts, rest: SideCounts) {
    let minimum = UInt64(settings.minimumRequests)
    // The comparison has requests of its own: in stage shadow they are all there is.
    if let limit = settings.maximumMismatchRate, rpc.comparisons >= minimum, rpc.mismatchRate > Double(limit) / 10_000 {
      self = .exceeded(
        .mismatchRate,
        "\(Self.percent(rpc.mismatchRate)) of \(rpc.comparisons) compared answers differ, more than "
          + "\(Self.percent(Double(limit) / 10_000))")
      return
    }
    guard rpc.requests >= minimum else {
      self = .waiting(seen: rpc.requests, of: minimum)
      return
    }
    if let limit = settings.maximumErrorRate, rpc.errorRate > Double(limit) / 10_000 {
      self = .exceeded(
        .errorRate,
        "\(Self.percent(rpc.errorRate)) of \(rpc.requests) calls failed on the rpc side, more than "
          + "\(Self.percent(Double(limit) / 10_000))")
      return
    }
    guard rest.requests >= minimum else {
      self = .content
      return
    }
    self = Self.compared(settings, rpc, rest) ?? .content
  }

  private static func compared(
    _ settings: RouteSettings.Guard, _ rpc: SideCounts, _ rest: SideCounts
  ) -> GuardJudgement? {
    if let limit = settings.maximumErrorRateRatio {
      let ratio = Double(limit) / 100
      if isMore(rpc.failures, of: rpc.requests, than: ratio, times: rest.failures, of: rest.requests) {
        return .exceeded(
          .errorRateRatio,
          "\(percent(rpc.errorRate)) of \(rpc.requests) calls failed on the rpc side, more than \(number(ratio)) times "
            + "the \(percent(rest.errorRate)) of the rest side")
      }
      if isMore(rpc.clientErrors, of: rpc.requests, than: ratio, times: rest.clientErrors, of: rest.requests) {
        return .exceeded(
          .clientErrorRatio,
          "\(percent(rpc.clientErrorRate)) of \(rpc.requests) calls were refused on the rpc side, more than "
            + "\(number(ratio)) times the \(percent(rest.clientErrorRate)) of the rest side")
      }
    }
    if let limit = settings.maximumLatencyRatio, let new = rpc.latency(at: 0.95), let old = rest.latency(at: 0.95) {
      let ratio = Double(limit) / 100
      // Below this the machine's own noise decides.
      let floor = Double(LatencyBuckets.start(of: 8))
      if new > floor, new > ratio * Swift.max(old, floor) {
        return .exceeded(
          .latencyRatio,
          "the 95th percentile of the latency is \(milliseconds(new)) on the rpc side, more than \(number(ratio)) times "
            + "the \(milliseconds(old)) of the rest side")
      }
    }
    return nil
  }

  /// Whether one rate is more than so many times another, and by more than chance makes it: two standard deviations
  /// of a count around what the other rate, with one event more, would give. So a failure or two are never enough.
  static func isMore(
    _ part: UInt64, of whole: UInt64, than ratio: Double, times otherPart: UInt64, of otherWhole: UInt64
  ) -> Bool {
    let expected = ratio * Double(whole) * Double(otherPart + 1) / Double(otherWhole + 1)
    return Double(part) > expected + 2 * (expected + 1).squareRoot()
  }

  // MARK: Texts

  private static func percent(_ rate: Double) -> String { number((rate * 10_000).rounded() / 100) + "%" }

  private static func milliseconds(_ nanoseconds: Double) -> String {
    number((nanoseconds / 100_000).rounded() / 10) + " ms"
  }

  /// `2` and not `2.0`.
  private static func number(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
