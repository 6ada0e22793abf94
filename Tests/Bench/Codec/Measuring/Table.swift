/// Lines of fixed columns.
enum Table {
  static let head =
    row(
      "", "size", "bytes", "turnout ns", "MB/s", "allocs", "messages ns", "MB/s", "allocs", "ratio", "binary ns",
      "ratio")

  static func line(_ direction: Options.Direction, _ size: SizeClass, bytes: Int, _ race: Race) -> String {
    let ours = race.ours.nanosecondsPerMessage
    func rate(_ time: Double) -> String { fixed(Double(bytes) * 1_000 / time, 0) }
    return row(
      direction == .decode ? "from JSON" : "to JSON", size.rawValue, String(bytes), fixed(ours, 0), rate(ours),
      fixed(race.ours.allocationsPerMessage, 2), race.messages.map { fixed($0.nanosecondsPerMessage, 0) } ?? "",
      race.messages.map { rate($0.nanosecondsPerMessage) } ?? "",
      race.messages.map { fixed($0.allocationsPerMessage, 0) } ?? "",
      race.messages.map { fixed($0.nanosecondsPerMessage / ours, 1) } ?? "",
      race.binary.map { fixed($0.nanosecondsPerMessage, 0) } ?? "",
      race.binary.map { fixed($0.nanosecondsPerMessage / ours, 1) } ?? "")
  }

  private static let widths = [-10, -6, 9, 11, 6, 7, 12, 6, 7, 6, 11, 6]

  private static func row(_ cells: String...) -> String {
    zip(cells, widths).map { cell, width in
      let blanks = String(repeating: " ", count: max(0, abs(width) - cell.count))
      return width < 0 ? cell + blanks : blanks + cell
    }.joined(separator: " ")
  }

  private static func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let whole = Int((value * Double(scale)).rounded())
    guard decimals > 0 else { return String(whole) }
    let fraction = String(whole % scale)
    return "\(whole / scale).\(String(repeating: "0", count: decimals - fraction.count))\(fraction)"
  }
}
