/// One mapping of the process, as `/proc/self/smaps` tells of it (proc_pid_smaps(5)).
struct MappedArea: Equatable {
  /// The first address, and the one behind the last.
  var start: UInt
  var end: UInt
  /// Of the file; empty where there is none.
  let path: Substring
  /// Whether it is code that runs from the file.
  let isExecutable: Bool
  /// Whether it is a file that nobody can write to here, and of which no page differs from the file: then its pages are
  /// in the system's cache, and come back from there when they are touched.
  var isPlainFile: Bool

  /// The plain areas of the program and its libraries: they stay where they are as long as the process runs, so that
  /// nothing else can have come to their addresses. Other files come and go.
  static func code(_ areas: [MappedArea]) -> [MappedArea] {
    let programs = Set(areas.lazy.filter(\.isExecutable).map(\.path))
    return areas.filter { $0.isPlainFile && programs.contains($0.path) }
  }

  /// - Parameter text: of the whole file. What is not understood is no plain file.
  static func areas(_ text: String) -> [MappedArea] {
    var areas: [MappedArea] = []
    var own: Int?
    for line in text.split(separator: "\n") {
      if let begun = MappedArea(head: line) {
        if own != 0, let last = areas.indices.last { areas[last].isPlainFile = false }
        areas.append(begun)
        own = nil
      } else if ["Anonymous:", "Locked:", "Swap:"].contains(where: { line.hasPrefix($0) }) {
        // Kilobytes.
        let number = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 1
        own = (own ?? 0) + number
      }
    }
    if own != 0, let last = areas.indices.last { areas[last].isPlainFile = false }
    return areas
  }

  /// `5583a0000000-5583a0ccd000 r-xp 00000000 fd:00 1234   /usr/local/bin/turnout`; nil for other lines.
  private init?(head line: Substring) {
    let parts = line.split(separator: " ", maxSplits: 5)
    guard parts.count >= 5, !parts[0].hasSuffix(":") else { return nil }
    let ends = parts[0].split(separator: "-")
    guard ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16), start < end else {
      return nil
    }
    let path = parts.count == 6 ? parts[5].drop { $0 == " " } : ""
    self.start = start
    self.end = end
    self.path = path
    isExecutable = parts[1].contains("x")
    isPlainFile = path.hasPrefix("/") && !parts[1].contains("w") && parts[1].hasSuffix("p")
  }
}
