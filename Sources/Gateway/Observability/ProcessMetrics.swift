import EventLoops
import Files
import Glibc
import Metrics

/// What every client library of Prometheus tells of its process, under the names that they agree on (Prometheus, "Writing
/// client libraries", process metrics); and which build this is. The heap is left out: no figure of the C library is true
/// for all threads.
struct ProcessMetrics: Sendable {
  private let cpuSeconds: Gauge
  private let threads: Gauge
  private let residentBytes: Gauge
  private let virtualBytes: Gauge
  private let mostVirtualBytes: Gauge
  private let openDescriptors: Gauge
  private let mostDescriptors: Gauge

  init(_ registry: MetricsRegistry) {
    cpuSeconds = registry.total(
      "process_cpu_seconds_total", help: "Total user and system CPU time spent in seconds.", labels: []
    ).child([])
    threads = registry.gauge(
      "process_threads", help: "Number of OS threads in the process.", labels: []
    ).child([])
    residentBytes = registry.gauge(
      "process_resident_memory_bytes", help: "Resident memory size in bytes.", labels: []
    ).child([])
    virtualBytes = registry.gauge(
      "process_virtual_memory_bytes", help: "Virtual memory size in bytes.", labels: []
    ).child([])
    mostVirtualBytes = registry.gauge(
      "process_virtual_memory_max_bytes", help: "Maximum amount of virtual memory available in bytes.",
      labels: []
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
    if let seconds = Self.cpuTime { cpuSeconds.set(seconds) }
    if let facts = Self.facts {
      threads.set(Double(facts.threads))
      virtualBytes.set(Double(facts.virtualBytes))
      residentBytes.set(Double(facts.residentPages * Int(getpagesize())))
    }
    if let most = Self.mostVirtualBytes { mostVirtualBytes.set(Double(most)) }
    if let open = Self.openDescriptorCount { openDescriptors.set(Double(open)) }
  }

  /// Of all threads, in the process and in the kernel for it, in seconds (clock_gettime(2)).
  private static var cpuTime: Double? {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The soft limit in `/proc/self/limits` (proc(5)); without one, the largest number, as other libraries have it.
  private static var mostVirtualBytes: UInt64? {
    guard let bytes = try? WholeFile("/proc/self/limits", limit: 16_384).bytes else { return nil }
    let name = "Max address space"
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name) }
    guard let value = line?.dropFirst(name.count).split(separator: " ").first else { return nil }
    return value == "unlimited" ? UInt64.max : UInt64(value)
  }

  /// From `/proc/self/stat` (proc(5)): what stands behind the program's name, which may have blanks and parentheses.
  private static var facts: (threads: Int, virtualBytes: Int, residentPages: Int)? {
    guard let bytes = try? WholeFile("/proc/self/stat", limit: 4_096).bytes,
      let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    // The first of these is the third field of the file, the state.
    let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split { $0 == " " || $0 == "\n" }
    guard fields.count > 21, let threads = Int(fields[17]), let virtual = Int(fields[20]), let pages = Int(fields[21])
    else { return nil }
    return (threads, virtual, pages)
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
