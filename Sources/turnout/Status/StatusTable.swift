/// `turnout status` for people: how far the move has come, and one line a route.
struct StatusTable {
  /// Of the terminal; nil: as wide as it gets.
  var width: Int?
  var hasColors: Bool

  private enum Color: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case magenta = "35"
  }

  private struct Cell {
    var text: String
    var color: Color?
    var isNumber = false
  }

  /// Columns that the least wide terminals do without, the first one first.
  private static let heads = ["ROUTE", "STAGE", "CALLS/S", "ERRORS", "RPC", "P95", "RPC", "DIFFER", "NOTES"]
  private static let numbers: Set<Int> = [2, 3, 4, 5, 6, 7]
  private static let leastRoute = 16
  private static let gap = 2

  func text(of status: GatewayStatus) -> String {
    var text = paint(status.replica.isEmpty ? "turnout" : status.replica, .bold)
    if !status.now.isEmpty { text += "  " + paint(status.now, .dim) }
    let config = "  config \(status.config)"
    let head = status.replica.count + status.now.count + Self.gap + config.count
    if !status.config.isEmpty, width.map({ head <= $0 }) ?? true { text += paint(config, .dim) }
    text += "\n\(bar(status)) \(cut(status.progress, width.map { max(19, $0 - 21) }))\n"
    // Whole, however wide it is: half a warning is none.
    for warning in status.warnings { text += paint("warning: \(warning)", .yellow) + "\n" }
    text += "\n"
    guard !status.routes.isEmpty else { return text + "The configuration describes no route.\n" }
    let rows = status.routes.map { cells(of: $0) }
    var columns = Array(Self.heads.indices)
    // The terminal may not have room for all of it: what says least goes first.
    for column in [8, 7, 6, 5, 2] where !fits(columns, rows) { columns.removeAll { $0 == column } }
    let widths = self.widths(columns, rows)
    text += line(
      Self.heads.enumerated().map { Cell(text: $1, color: .dim, isNumber: Self.numbers.contains($0)) }, columns, widths)
    for row in rows { text += line(row, columns, widths) }
    if !columns.contains(8) {
      for (route, row) in zip(status.routes, rows) where row[8].color == .red || row[8].color == .yellow {
        text += cut("\(route.method): \(row[8].text)", width) + "\n"
      }
    }
    return text
  }

  private func cells(of route: RouteStatus) -> [Cell] {
    let stage: Color? =
      switch route.effective.stage {
      case "rpc": .green
      case "canary": .yellow
      case "shadow": .magenta
      default: nil
      }
    let isWorse = (route.rpc?.errorRate ?? 0) > max(0.005, (route.rest?.errorRate ?? 0) * 1.5)
    let differ = route.comparison?.mismatch
    let isTripped = route.trip?.state == "tripped"
    let isWarning = ["alerting", "holding"].contains(route.trip?.state ?? "") || route.isRampHeld == true
    return [
      Cell(text: route.procedure), Cell(text: route.effective.text, color: stage),
      number(Figures.rate(route.rate)), number(Figures.share(route.rest?.errorRate)),
      number(Figures.share(route.rpc?.errorRate), isWorse ? .red : nil),
      number(Figures.milliseconds(route.rest?.p95)), number(Figures.milliseconds(route.rpc?.p95)),
      number(differ.map(Figures.count) ?? Figures.none, (differ ?? 0) > 0 ? .red : nil),
      Cell(text: route.notes.joined(separator: ", "), color: isTripped ? .red : isWarning ? .yellow : .dim),
    ]
  }

  private func number(_ text: String, _ color: Color? = nil) -> Cell { Cell(text: text, color: color, isNumber: true) }

  /// Whether the columns have room beside a route of which something is left to see.
  private func fits(_ columns: [Int], _ rows: [[Cell]]) -> Bool {
    guard let width else { return true }
    let others = columns.filter { $0 != 0 && $0 != 8 }.reduce(0) { $0 + natural($1, rows) + Self.gap }
    let notes = columns.contains(8) ? 14 + Self.gap : 0
    return others + notes + min(Self.leastRoute, natural(0, rows)) <= width
  }

  private func natural(_ column: Int, _ rows: [[Cell]]) -> Int {
    rows.reduce(Self.heads[column].count) { max($0, $1[column].text.count) }
  }

  /// The routes and the notes share what the others leave.
  private func widths(_ columns: [Int], _ rows: [[Cell]]) -> [Int] {
    var widths = columns.map { natural($0, rows) }
    guard let width, let notes = columns.contains(8) ? widths.count - 1 : nil else {
      if let width { widths[0] = min(widths[0], max(4, width - widths.dropFirst().reduce(0) { $0 + $1 + Self.gap })) }
      return widths
    }
    let middle = widths[1..<notes].reduce(0) { $0 + $1 + Self.gap }
    let room = max(8, width - middle - Self.gap)
    if widths[0] + widths[notes] > room {
      let routes = min(widths[0], max(Self.leastRoute, room - min(widths[notes], room / 3)))
      widths[0] = min(routes, room - 4)
      widths[notes] = max(4, room - widths[0])
    }
    return widths
  }

  private func line(_ row: [Cell], _ columns: [Int], _ widths: [Int]) -> String {
    var line = ""
    var pending = 0
    for (column, width) in zip(columns, widths) {
      let cell = row[column]
      let text = column == 0 ? fitted(cell.text, width) : cut(cell.text, width)
      let blanks = width - text.count
      guard !text.isEmpty else {
        pending += width + Self.gap
        continue
      }
      line += String(repeating: " ", count: pending + (cell.isNumber ? blanks : 0))
      line += paint(text, cell.color)
      pending = Self.gap + (cell.isNumber ? 0 : blanks)
    }
    return line + "\n"
  }

  /// Of a procedure the method says most.
  private func fitted(_ procedure: String, _ width: Int) -> String {
    guard procedure.count > width, let slash = procedure.lastIndex(of: "/") else { return cut(procedure, width) }
    return cut("…" + procedure[slash...], width)
  }

  private func cut(_ text: String, _ width: Int?) -> String {
    guard let width, text.count > width else { return text }
    return text.prefix(max(0, width - 1)) + "…"
  }

  private func bar(_ status: GatewayStatus) -> String {
    let length = 20
    let filled = status.routes.isEmpty ? 0 : status.moved * length / status.routes.count
    return paint(String(repeating: "█", count: filled), .green)
      + paint(String(repeating: "░", count: length - filled), .dim)
  }

  private func paint(_ text: String, _ color: Color?) -> String {
    guard hasColors, let color, !text.isEmpty else { return text }
    return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
  }
}
