/// Writes families in Prometheus' text format 0.0.4.
struct Exposition {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ family: MetricsRegistry.AnyFamily) {
    switch family {
    case .counter(let family):
      head(family, kind: "counter")
      for (values, counter) in family.sorted {
        line(family.name, labels(family.labels, values), "\(counter.value)")
      }
    case .gauge(let family): append(family, kind: "gauge")
    case .total(let family): append(family, kind: "counter")
    case .histogram(let family, let bounds):
      head(family, kind: "histogram")
      for (values, histogram) in family.sorted {
        append(histogram, family.name, labels(family.labels, values), bounds)
      }
    }
  }

  private mutating func append(_ family: GaugeFamily, kind: String) {
    head(family, kind: kind)
    for (values, gauge) in family.sorted {
      line(family.name, labels(family.labels, values), Self.number(gauge.value))
    }
  }

  /// Buckets are cumulative; the count is read from them, so that it always agrees with the last.
  private mutating func append(_ histogram: Histogram, _ name: String, _ labels: [String], _ bounds: [UInt64]) {
    let (counts, nanoseconds) = histogram.observed
    var total: UInt64 = 0
    for (bucket, count) in counts.enumerated() {
      total &+= count
      let bound = bucket < bounds.count ? Self.seconds(bounds[bucket]) : "+Inf"
      line("\(name)_bucket", labels + ["le=\"\(bound)\""], "\(total)")
    }
    line("\(name)_sum", labels, Self.seconds(nanoseconds))
    line("\(name)_count", labels, "\(total)")
  }

  private mutating func head<Child>(_ family: Family<Child>, kind: String) {
    bytes += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n".utf8
    bytes += "# TYPE \(family.name) \(kind)\n".utf8
  }

  private mutating func line(_ name: String, _ labels: [String], _ value: String) {
    bytes += name.utf8
    if !labels.isEmpty { bytes += "{\(labels.joined(separator: ","))}".utf8 }
    bytes += " \(value)\n".utf8
  }

  private func labels(_ names: [String], _ values: [String]) -> [String] {
    zip(names, values).map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
  }

  /// Escapes backslashes and line feeds, and in label values quotes.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Nanoseconds as exact decimal seconds without trailing zeros.
  static func seconds(_ nanoseconds: UInt64) -> String {
    let (whole, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    if fraction == 0 { return "\(whole)" }
    var digits = "\(fraction)"
    digits = String(repeating: "0", count: 9 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }

  /// A Double as Go's parser reads it; whole numbers without a point.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return "\(whole)" }
    return "\(value)"
  }
}
