import Gateway

extension Program {
  func routes(_ config: String, asJSON: Bool, on gateway: any GatewayProgram) -> ExitCode {
    switch gateway.routes(configPath: config) {
    case .success(let routes):
      console.out(asJSON ? Self.json(routes) : Self.table(routes, stage: "STAGE (FILE)"))
      return .done
    case .failure(let failure): return report(failure)
    }
  }

  /// Those of a running gateway, with the stages that count now.
  func routes(of admin: AdminURL, asJSON: Bool) -> ExitCode {
    do throws(ProgramError) {
      let routes = try status(of: admin).routes.map { RouteSummary($0) }
      console.out(asJSON ? Self.json(routes) : Self.table(routes, stage: "STAGE"))
      return .done
    } catch {
      return report(.other(error.message))
    }
  }

  private static func json(_ routes: [RouteSummary]) -> String {
    let list = routes.map { route -> JSONValue in
      var members: [JSONValue.Member] = [
        .init("procedure", .string(route.procedure)), .init("stage", .string(route.stage)),
      ]
      if let percent = route.percent { members.append(.init("percent", .literal(Figures.decimal(percent, digits: 2)))) }
      members += [
        .init(
          "bindings",
          .array(route.bindings.map { ["method": .string($0.method), "path": .string($0.path)] })),
        .init("rest", route.rest.map { .string($0) } ?? .null), .init("rpc", route.rpc.map { .string($0) } ?? .null),
        .init("hosts", .array(route.hosts.map { .string($0) })),
      ]
      return .object(members)
    }
    let document: JSONValue = ["routes": .array(list)]
    return String(decoding: document.bytes, as: UTF8.self) + "\n"
  }

  /// One line a REST binding; a route's further bindings leave the other columns empty.
  private static func table(_ routes: [RouteSummary], stage: String) -> String {
    var rows = [["PROCEDURE", stage, "REST", "RPC", "BINDING", "HOSTS"]]
    for route in routes {
      let bindings = route.bindings.map { "\($0.method) \($0.path)" }
      rows.append([
        route.procedure, RouteStatus.Setting(stage: route.stage, percent: route.percent).text, route.rest ?? "-",
        route.rpc ?? "-", bindings.first ?? "-",
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

extension RouteSummary {
  fileprivate init(_ status: RouteStatus) {
    self.init(
      procedure: status.procedure, stage: status.effective.stage,
      percent: status.effective.stage == "canary" ? status.effective.percent : nil,
      bindings: status.restFaces.map { Binding(method: $0.method, path: $0.path) }, rest: status.restBackend,
      rpc: status.rpcBackend, hosts: status.hosts)
  }
}
