import Diagnostics
import Gateway
import Testing

@testable import turnout

@Suite struct ProgramTests {
  private let place = SourcePosition(file: "a.yaml", line: 2, column: 3)

  @Test func wrongUsageExits2() {
    let captured = Captured()
    #expect(captured.run(["sevre"]) == 2)
    #expect(captured.error == "turnout: unknown command sevre; did you mean serve?\nturnout help lists the commands\n")
    let stage = Captured()
    #expect(stage.run(["stage", "S/M", "rcp"]) == 2)
    #expect(stage.error.hasPrefix("turnout: unknown stage \"rcp\"; did you mean rpc?\nusage: turnout stage PROCEDURE"))
    #expect(stage.out == "")
  }

  @Test func helpAndVersionGoToStandardOutput() {
    let version = Captured()
    #expect(version.run(["--version"]) == 0)
    #expect(version.out == "turnout \(Program.version)\n")
    for name in CommandName.allCases {
      let help = Captured()
      #expect(help.run(["help", name.rawValue]) == 0)
      #expect(help.out.contains("turnout \(name.rawValue)"))
      #expect(help.error == "")
    }
  }

  @Test func serveSaysWhyItFailed() {
    var gateway = ScriptedGateway()
    gateway.onServe = { path, _ in .failure(.other("\(path): bind: Address already in use")) }
    let captured = Captured()
    #expect(captured.run(["serve", "--config", "a.yaml"], on: gateway) == 1)
    #expect(captured.error == "turnout: a.yaml: bind: Address already in use\n")
    gateway.onServe = { _, _ in .success(()) }
    #expect(Captured().run(["serve", "--config", "a.yaml"], on: gateway) == 0)
  }

  /// The others end by a signal at once, as is usual.
  @Test func whatServesCatchesSignalsFirst() {
    var gateway = ScriptedGateway()
    gateway.onSignals = { .failure(.other("signals cannot be handled: eventfd")) }
    gateway.onServe = { _, _ in
      Issue.record("it serves without signals")
      return .success(())
    }
    for command in [["serve", "--config", "a.yaml"], ["demo"]] {
      let captured = Captured()
      #expect(captured.run(command, on: gateway) == 1)
      #expect(captured.error == "turnout: signals cannot be handled: eventfd\n")
    }
    #expect(Captured().run(["check", "--config", "a.yaml"], on: gateway) == 0)
    #expect(Captured().run(["routes", "--config", "a.yaml"], on: gateway) == 0)
  }

  @Test func checkPrintsEveryFault() {
    var gateway = ScriptedGateway()
    let warning = Diagnostic(severity: .warning, at: place, "odd")
    gateway.diagnostics = [warning]
    let fine = Captured()
    #expect(fine.run(["check", "--config", "a.yaml"], on: gateway) == 0)
    #expect(fine.error == "a.yaml:2:3: warning: odd\n")
    #expect(fine.out == "a.yaml: ok\n")
    gateway.diagnostics = [warning, Diagnostic(at: place, "bad\nvalue", cure: "write good")]
    let faulty = Captured()
    #expect(faulty.run(["check", "--config", "a.yaml"], on: gateway) == 1)
    #expect(faulty.error == "a.yaml:2:3: warning: odd\na.yaml:2:3: error: bad value; write good\n")
    #expect(faulty.out == "")
  }

  @Test func routesPrintsATable() throws {
    var gateway = ScriptedGateway()
    gateway.table = .success([
      RouteSummary(
        procedure: "a.S/Get", stage: "rest",
        bindings: [.init(method: "GET", path: "/v1/{id}"), .init(method: "GET", path: "/v2/{id}")], rest: "legacy",
        rpc: "new", hosts: ["x.example", "*.y.example"]),
      RouteSummary(procedure: "a.S/LongerName", stage: "rpc", bindings: [], rest: nil, rpc: "new"),
    ])
    let table = Captured()
    #expect(table.run(["routes", "--config", "a.yaml"], on: gateway) == 0)
    #expect(
      table.out == """
        PROCEDURE       STAGE (FILE)  REST    RPC  BINDING       HOSTS
        a.S/Get         rest          legacy  new  GET /v1/{id}  x.example,*.y.example
                                                   GET /v2/{id}
        a.S/LongerName  rpc           -       new  -

        """)
    let json = Captured()
    #expect(json.run(["routes", "--json", "--config", "a.yaml"], on: gateway) == 0)
    #expect(
      json.out
        == #"{"routes":[{"procedure":"a.S/Get","stage":"rest","bindings":[{"method":"GET","path":"/v1/{id}"},"#
        + #"{"method":"GET","path":"/v2/{id}"}],"rest":"legacy","rpc":"new","hosts":["x.example","*.y.example"]},"#
        + #"{"procedure":"a.S/LongerName","stage":"rpc","bindings":[],"rest":null,"rpc":"new","hosts":[]}]}"# + "\n")
    gateway.table = .failure(.configuration([Diagnostic(at: place, "bad")]))
    let faulty = Captured()
    #expect(faulty.run(["routes", "--config", "a.yaml"], on: gateway) == 1)
    #expect(faulty.error == "a.yaml:2:3: error: bad\n")
  }

  @Test func explainHandsTheRequestOver() {
    var gateway = ScriptedGateway()
    gateway.onExplain = { request in
      let fields = request.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
      return .success("\(request.method) \(request.target) \(fields) \(request.body?.count ?? -1)")
    }
    let captured = Captured()
    let arguments = ["explain", "--config", "a", "POST", "/x?y", "-H", "A: 1", "-H", "b:2", "--data", "four"]
    #expect(captured.run(arguments, on: gateway) == 0)
    #expect(captured.out == "POST /x?y A=1,b=2 4\n")
    let bare = Captured()
    #expect(bare.run(["explain", "--config", "a", "GET", "/x"], on: gateway) == 0)
    #expect(bare.out == "GET /x  -1\n")
  }
}
