import EventLoops
import Migration

/// What both sides did in the window of the guard, else in the last minute.
extension RouteJSON {
  func sides(_ watch: RouteWatch?) -> JSONValue {
    let now = Instant.now().nanoseconds
    return ["rest": Self.side(watch?.windows?.rest, at: now), "rpc": Self.side(watch?.windows?.rpc, at: now)]
  }

  /// Null for a side that did nothing.
  private static func side(_ window: SlidingWindow?, at now: UInt64) -> JSONValue {
    guard let window, window.sum.requests > 0 else { return .null }
    let sum = window.sum
    return [
      "requests": .integer(sum.requests), "failures": .integer(sum.failures),
      "client_errors": .integer(sum.clientErrors), "error_rate": number(sum.errorRate, places: 5),
      "latency_ms": sum.measured == 0
        ? .null
        : [
          "p50": milliseconds(sum.latency(at: 0.5)), "p95": milliseconds(sum.latency(at: 0.95)),
          "p99": milliseconds(sum.latency(at: 0.99)),
        ],
      "rate": number(Double(sum.requests) / Swift.max(1, window.seconds(at: now)), places: 2),
    ]
  }

  private static func milliseconds(_ nanoseconds: Double?) -> JSONValue {
    nanoseconds.map { number($0 / 1e6, places: 2) } ?? .null
  }

  /// A number of so many decimals at most.
  private static func number(_ value: Double, places: Int) -> JSONValue {
    var unit = 1.0
    for _ in 0..<places { unit *= 10 }
    let rounded = (value * unit).rounded() / unit
    let text = "\(rounded)"
    return .literal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }
}
