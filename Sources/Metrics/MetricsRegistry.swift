import Synchronization

/// All metrics of the process, in one place to be read from.
///
/// Families are made at start and live as long as the registry: a reload adopts them with their numbers.
public final class MetricsRegistry: Sendable {
  /// Label sets that a family takes before `other`, unless it is told.
  public static let defaultMaximumChildren = 2_000
  /// Buckets in seconds from 1 ms to 30 s.
  public static let defaultBuckets = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  ]

  enum AnyFamily {
    case counter(CounterFamily)
    case gauge(GaugeFamily)
    case total(GaugeFamily)
    case histogram(HistogramFamily, bounds: [UInt64])
  }

  private let shards: Int
  private let families = Mutex<[String: AnyFamily]>([:])
  private let scrapers = Mutex<[@Sendable () -> Void]>([])

  /// - Parameter shards: loops that count; each has its own cells.
  public init(shards: Int) {
    self.shards = max(1, shards)
  }

  /// The counter family of a name, made when it is new. By convention names end in `_total`.
  ///
  /// - Parameters:
  ///   - help: one sentence for whoever reads the exposition.
  ///   - labels: label names; a family's children differ in their values.
  ///   - maximumChildren: label sets before all new ones become `other`.
  public func counter(
    _ name: String, help: String, labels: [String] = [], maximumChildren: Int = defaultMaximumChildren
  ) -> CounterFamily {
    families.withLock { families in
      if case .counter(let known) = families[name] { return known }
      Self.check(name, labels, isNew: families[name] == nil)
      let family = CounterFamily(name: name, help: help, labels: labels, maximumChildren: maximumChildren) {
        [shards] in Counter(shards: shards)
      }
      families[name] = .counter(family)
      return family
    }
  }

  /// The gauge family of a name, made when it is new.
  public func gauge(
    _ name: String, help: String, labels: [String] = [], maximumChildren: Int = defaultMaximumChildren
  ) -> GaugeFamily {
    families.withLock { families in
      if case .gauge(let known) = families[name] { return known }
      Self.check(name, labels, isNew: families[name] == nil)
      let family = GaugeFamily(name: name, help: help, labels: labels, maximumChildren: maximumChildren) {
        [shards] in Gauge(shards: shards)
      }
      families[name] = .gauge(family)
      return family
    }
  }

  /// The family of counters that somebody else counts, as the kernel does a process's time: each is set when it is asked
  /// for. Made when it is new; by convention names end in `_total`.
  public func total(_ name: String, help: String, labels: [String] = []) -> GaugeFamily {
    families.withLock { families in
      if case .total(let known) = families[name] { return known }
      Self.check(name, labels, isNew: families[name] == nil)
      let family = GaugeFamily(
        name: name, help: help, labels: labels, maximumChildren: Self.defaultMaximumChildren
      ) { Gauge(shards: 1) }
      families[name] = .total(family)
      return family
    }
  }

  /// The histogram family of a name, made when it is new. By convention names end in `_seconds`.
  ///
  /// - Parameter buckets: upper bounds in seconds, in any order; one without a bound is added. At most 24
  ///   with that one.
  public func histogram(
    _ name: String, help: String, labels: [String] = [], buckets: [Double] = defaultBuckets,
    maximumChildren: Int = defaultMaximumChildren
  ) -> HistogramFamily {
    families.withLock { families in
      if case .histogram(let known, _) = families[name] { return known }
      Self.check(name, labels, isNew: families[name] == nil)
      precondition(!labels.contains("le"), "le is the label of the buckets")
      let bounds = Array(Set(buckets.filter(\.isFinite).map(Histogram.nanoseconds))).sorted()
      precondition(bounds.count < Histogram.maximumBuckets, "too many buckets")
      let family = HistogramFamily(name: name, help: help, labels: labels, maximumChildren: maximumChildren) {
        [shards] in Histogram(bounds: bounds, shards: shards)
      }
      families[name] = .histogram(family, bounds: bounds)
      return family
    }
  }

  /// Has a closure called at the beginning of each exposition, to set gauges that are only known when asked for.
  public func onScrape(_ body: @escaping @Sendable () -> Void) {
    scrapers.withLock { $0.append(body) }
  }

  /// All metrics in Prometheus' text format 0.0.4 (`text/plain; version=0.0.4; charset=utf-8`), families by name,
  /// children by label values.
  public func expose() -> [UInt8] {
    for scraper in scrapers.withLock({ $0 }) { scraper() }
    var exposition = Exposition()
    for (_, family) in families.withLock({ Array($0) }).sorted(by: { $0.key < $1.key }) {
      exposition.append(family)
    }
    return exposition.bytes
  }

  /// Names come from our own code: a wrong one is found by the first test that makes the registry.
  private static func check(_ name: String, _ labels: [String], isNew: Bool) {
    precondition(isNew, "one name, two kinds of metric: \(name)")
    for (index, word) in ([name] + labels).enumerated() {
      let isFit =
        !word.isEmpty
        && word.utf8.allSatisfy {
          ($0 | 0x20) &- 97 < 26 || $0 &- 48 < 10 || $0 == UInt8(ascii: "_") || (index == 0 && $0 == UInt8(ascii: ":"))
        }
      precondition(isFit && !(word.utf8.first.map { $0 &- 48 < 10 } ?? true), "no name of a metric or label: \(word)")
    }
  }
}
