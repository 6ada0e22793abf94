import Gateway

extension Program {
  func routes(_ config: String, asJSON: Bool, on gateway: any GatewayProgram) -> ExitCode {
    switch gateway.routes(configPath: config) {
    case .success(let routes):
      console.out(asJSON ? Self.json(routes) : Self.table(routes))
      return .done
    case .failure(let failure): return report(failure)
    }
  }

  private static func json(_ routes: [RouteSummary]) -> String {
    let list = routes.map { route -> JSONValue in
      [
        "procedure": .string(route.procedure), "stage": .string(route.stage),
        "bindings": .array(
          route.bindings.map { ["method": .string($0.method), "path": .string($0.path)] }),
        "rest": route.rest.map { .string($0) } ?? .null, "rpc": route.rpc.map { .string($0) } ?? .null,
        "hosts": .array(route.hosts.map { .string($0) }),
      ]
    }
    let document: JSONValue = ["routes": .array(list)]
    return String(decoding: document.bytes, as: UTF8.self) + "\n"
  }

  /// One line a REST binding; a route's further bindings leave the other columns empty.
  private static func table(_ routes: [RouteSummary]) -> String {
    var rows = [["PROCEDURE", "STAGE (FILE)", "REST", "RPC", "BINDING", "HOSTS"]]
    for route in routes {
      let bindings = route.bindings.map { "\($0.method) \($0.path)" }
      rows.append([
        route.procedure, route.stage, route.rest ?? "-", route.rpc ?? "-", bindings.first ?? "-",
        route.hosts.joined(separator: ","),
      ])
      for binding in bindings.dropFirst() { rows.append(["", "", "", "", binding, ""]) }
    }
    var widths = [Int](repeating: 0, count: rows[0].count)
    for row in rows {
      for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
