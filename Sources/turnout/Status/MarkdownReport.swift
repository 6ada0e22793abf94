/// `turnout report`: the state of the move as Markdown, for a wiki or a ticket.
enum MarkdownReport {
  private static let mostCallers = 20

  static func text(of status: GatewayStatus) -> String {
    var text = "# The move to RPC\n\n"
    let place = [
      status.replica.isEmpty ? "" : "of \(cell(status.replica))", status.now.isEmpty ? "" : "at \(cell(status.now))",
    ]
    let when = place.filter { !$0.isEmpty }.joined(separator: " ")
    text += "\(status.progress)\(when.isEmpty ? "" : " (\(when))").\n\n"
    text += status.warnings.map { "**Warning:** \(prose($0)).\n\n" }.joined()
    text += stages(status) + routes(status) + differences(status) + overrides(status) + callers(status) + next(status)
    return text
  }

  private static func stages(_ status: GatewayStatus) -> String {
    let known = ["rest", "shadow", "canary", "rpc"]
    let counted = known.map { stage in "\(stage) \(status.routes.count { $0.effective.stage == stage })" }
    return "Routes by stage: \(counted.joined(separator: ", ")).\n\n"
  }

  private static func routes(_ status: GatewayStatus) -> String {
    guard !status.routes.isEmpty else { return "The configuration describes no route.\n" }
    let rows = status.routes.map { route in
      [
        "`\(code(route.procedure))`", route.effective.text, Figures.rate(route.rate),
        Figures.share(route.rest?.errorRate),
        Figures.share(route.rpc?.errorRate), Figures.milliseconds(route.rest?.p95),
        Figures.milliseconds(route.rpc?.p95),
        route.comparison.map { Figures.count($0.mismatch) } ?? Figures.none,
        route.notes.map(cell).joined(separator: ", "),
      ]
    }
    return "## Routes\n\n"
      + table(
        ["Route", "Stage", "Calls/s", "Errors, rest", "Errors, rpc", "p95, rest", "p95, rpc", "Differ", "Notes"], rows,
        numbers: [2, 3, 4, 5, 6, 7])
  }

  private static func differences(_ status: GatewayStatus) -> String {
    let rows = status.routes.flatMap { route in
      (route.comparison?.differences ?? []).map { one in
        [
          "`\(code(route.method))`", one.path.isEmpty ? "(the whole answer)" : "`\(code(one.path))`", cell(one.kind),
          Figures.count(one.count),
        ]
      }
    }
    guard !rows.isEmpty else { return "" }
    return "## Where the answers differ\n\n" + table(["Route", "Field", "Kind", "Times"], rows, numbers: [3])
  }

  private static func overrides(_ status: GatewayStatus) -> String {
    let rows = status.routes.compactMap { route in
      route.override.map { override in
        [
          "`\(code(route.method))`", route.effective.text, route.configured.text, cell(override.by), cell(override.at),
          cell(override.reason),
        ]
      }
    }
    guard !rows.isEmpty else { return "" }
    return "## What lies over the file\n\nWrite what is to stay into the file; clear the rest.\n\n"
      + table(["Route", "Now", "File", "By", "Since", "Reason"], rows)
  }

  /// Over all moved routes together.
  private static func callers(_ status: GatewayStatus) -> String {
    var found: [String: (caller: RouteStatus.Caller, routes: [String])] = [:]
    for route in status.routes where route.effective.stage == "rpc" {
      for caller in route.restCallers {
        var entry = found[caller.name] ?? (caller, [])
        if !entry.routes.isEmpty { entry.caller.requests += caller.requests }
        entry.caller.lastSeen = max(entry.caller.lastSeen, caller.lastSeen)
        entry.routes.append(route.method)
        found[caller.name] = entry
      }
    }
    guard !found.isEmpty else { return "" }
    let sorted = found.values.sorted { ($1.caller.requests, $0.caller.name) < ($0.caller.requests, $1.caller.name) }
    let rows = sorted.prefix(mostCallers).map { entry in
      [
        cell(entry.caller.name), Figures.count(entry.caller.requests), cell(entry.caller.lastSeen),
        cell(entry.routes.joined(separator: ", ")),
      ]
    }
    return "## Who still calls the REST face of moved routes\n\n"
      + table(["Caller", "Calls", "Last seen", "Routes"], Array(rows), numbers: [1])
  }

  private static func next(_ status: GatewayStatus) -> String {
    guard !status.routes.isEmpty else { return "" }
    return "## What to do next\n\n"
      + status.routes.map { "- `\(code($0.method))` (\($0.effective.text)): \(prose($0.nextStep))\n" }.joined()
  }

  private static func table(_ heads: [String], _ rows: [[String]], numbers: Set<Int> = []) -> String {
    var lines = [heads, heads.indices.map { numbers.contains($0) ? "--:" : "---" }]
    lines += rows
    return lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined() + "\n"
  }

  /// Text of a cell: what Markdown or HTML would take for markup is escaped.
  private static func cell(_ text: String) -> String {
    var escaped = ""
    for character in text {
      if "\\`|<>*_[]#~".contains(character) { escaped.append("\\") }
      escaped.append(character)
    }
    return escaped
  }

  /// A sentence with words in marks of code, which stay as they are.
  private static func prose(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.isMultiple(of: 2) ? cell(String($1)) : "`\($1)`" }.joined()
  }

  /// Text between marks of code.
  private static func code(_ text: String) -> String {
    text.map { $0 == "`" ? "'" : $0 == "|" ? "\\|" : String($0) }.joined()
  }
}
