import EventLoops
import Files
import Glibc
import Metrics

/// What every client library of Prometheus tells of its process, under the names that they agree on; and which build this is.
struct ProcessMetrics: Sendable {
  private let residentBytes: Gauge
  private let openDescriptors: Gauge
  private let mostDescriptors: Gauge

  init(_ registry: MetricsRegistry) {
    residentBytes = registry.gauge(
      "process_resident_memory_bytes", help: "Resident memory size in bytes.", labels: []
    ).child([])
    openDescriptors = registry.gauge(
      "process_open_fds", help: "Number of open file descriptors.", labels: []
    ).child([])
    mostDescriptors = registry.gauge(
      "process_max_fds", help: "Maximum number of open file descriptors.", labels: []
    ).child([])
    registry.gauge(
      "process_start_time_seconds", help: "Start time of the process since the Unix epoch in seconds.", labels: []
    ).child([]).set(Double(WallClock.now().sinceEpoch) / 1e9)
    registry.gauge(
      "turnout_build_info", help: "1, with the version of this program.", labels: ["version"]
    ).child([Turnout.version]).set(1)
  }

  /// For a scrape. What the system does not tell, for the lack of a descriptor or of /proc, stays as it was.
  func report() {
    mostDescriptors.set(Double(DescriptorLimit.present))
    if let pages = Self.residentPages { residentBytes.set(Double(pages * Int(getpagesize()))) }
    if let open = Self.openDescriptorCount { openDescriptors.set(Double(open)) }
  }

  /// The second number of `/proc/self/statm` (proc(5)).
  private static var residentPages: Int? {
    guard let bytes = try? WholeFile("/proc/self/statm", limit: 4_096).bytes else { return nil }
    let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return numbers.count > 1 ? Int(numbers[1]) : nil
  }

  private static var openDescriptorCount: Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var entries = 0
    while readdir(folder) != nil { entries += 1 }
    // The folder itself, the one above it, and the descriptor that it is read by.
    return max(0, entries - 3)
  }
}
