import Glibc
import Metrics
import Testing

func exposition(_ registry: MetricsRegistry) -> String { String(decoding: registry.expose(), as: UTF8.self) }

/// The lines that are no comments.
func samples(_ registry: MetricsRegistry) -> [String] {
  exposition(registry).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
}

/// Prometheus' own checker, where it is installed.
enum Promtool {
  static let path: String? = {
    let folders = getenv("PATH").map { String(cString: $0) } ?? ""
    return folders.split(separator: ":").map { "\($0)/promtool" }.first { access($0, X_OK) == 0 }
  }()

  /// Runs `promtool check metrics` on a text.
  ///
  /// - Returns: its exit code and all that it printed.
  static func check(_ metrics: [UInt8]) throws -> (code: Int32, output: String) {
    let path = try #require(path)
    let name = Array("/tmp/turnout-metrics-XXXXXX".utf8CString)
    let (file, descriptor) = name.withUnsafeBufferPointer { template -> (String, Int32) in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: template.count)
      defer { copy.deallocate() }
      copy.initialize(from: template.baseAddress ?? UnsafePointer(copy), count: template.count)
      let descriptor = mkstemp(copy)
      return (String(cString: copy), descriptor)
    }
    try #require(descriptor >= 0)
    let written = metrics.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    defer { unlink(file) }
    try #require(written == metrics.count)
    let pipe = try #require(popen("'\(path)' check metrics < '\(file)' 2>&1", "r"))
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    var count = fread(&chunk, 1, chunk.count, pipe)
    while count > 0 {
      output += chunk.prefix(count)
      count = fread(&chunk, 1, chunk.count, pipe)
    }
    return (pclose(pipe), String(decoding: output, as: UTF8.self))
  }
}
