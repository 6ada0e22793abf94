/// One mapping of the process, as `/proc/self/smaps` tells of it (proc_pid_smaps(5)).
struct MappedArea: Equatable {
  /// The first address, and the one behind the last.
  var start: UInt
  var end: UInt
  /// Whether it is a file that nobody can write to here, and of which no page differs from the file: then its pages are
  /// in the system's cache, and come back from there when they are touched.
  var isPlainFile: Bool

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

  init(start: UInt, end: UInt, isPlainFile: Bool) {
    self.start = start
    self.end = end
    self.isPlainFile = isPlainFile
  }

  /// `5583a0000000-5583a0ccd000 r-xp 00000000 fd:00 1234   /usr/local/bin/turnout`; nil for other lines.
  private init?(head line: Substring) {
    let parts = line.split(separator: " ", maxSplits: 5)
    guard parts.count >= 5, !parts[0].hasSuffix(":") else { return nil }
    let ends = parts[0].split(separator: "-")
    guard ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16), start < end else {
      return nil
    }
    let isFile = parts.count == 6 && parts[5].drop(while: { $0 == " " }).hasPrefix("/")
    self.init(start: start, end: end, isPlainFile: isFile && !parts[1].contains("w") && parts[1].hasSuffix("p"))
  }
}
