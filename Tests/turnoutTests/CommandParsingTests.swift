import Gateway
import Testing

@testable import turnout

@Suite struct CommandParsingTests {
  private func parse(_ line: String) throws(UsageError) -> Command {
    try Command(parsing: line.split(separator: " ").map(String.init))
  }

  @Test func readsEachCommand() throws {
    #expect(try parse("serve --config a.yaml") == .serve(config: "a.yaml"))
    #expect(try parse("check --config=a.yaml") == .check(config: "a.yaml"))
    #expect(try parse("routes --config a.yaml") == .routes(config: "a.yaml", asJSON: false))
    #expect(try parse("routes --json --config a.yaml") == .routes(config: "a.yaml", asJSON: true))
    #expect(
      try parse("routes --admin a:1 --json") == .runningRoutes(admin: AdminURL(host: "a", port: 1), asJSON: true))
    #expect(
      try parse("explain --config a GET /x --admin a:1")
        == .explain(ExplainArguments(config: "a", method: "GET", target: "/x", admin: AdminURL(host: "a", port: 1))))
    #expect(try parse("status") == .status(StatusArguments()))
    #expect(
      try parse("status --json --watch --admin http://a:1")
        == .status(StatusArguments(admin: AdminURL(host: "a", port: 1), isJSON: true, isWatching: true)))
    #expect(try parse("report --admin a:1") == .report(admin: AdminURL(host: "a", port: 1)))
    #expect(try parse("demo") == .demo(hasBugs: false))
    #expect(try parse("demo --bug") == .demo(hasBugs: true))
    #expect(try parse("help") == .help(nil))
    #expect(try parse("--help") == .help(nil))
    #expect(try parse("-h") == .help(nil))
    #expect(try parse("help stage") == .help(.stage))
    #expect(try parse("stage --help") == .help(.stage))
    #expect(try parse("--version") == .version)
  }

  @Test func readsExplain() throws {
    let command = try Command(parsing: [
      "explain", "GET", "-H", "x-a: 1", "/v1/x?y=z", "--config", "a.yaml", "-Hx-b:two words", "--data", "{}",
    ])
    #expect(
      command
        == .explain(
          ExplainArguments(
            config: "a.yaml", method: "GET", target: "/v1/x?y=z",
            fields: [.init(name: "x-a", value: "1"), .init(name: "x-b", value: "two words")], data: "{}")))
    #expect(
      try parse("explain --config a PATCH /x")
        == .explain(ExplainArguments(config: "a", method: "PATCH", target: "/x")))
    #expect(
      try Command(parsing: ["explain", "--config", "a", "--data", "", "--", "GET", "/-"])
        == .explain(ExplainArguments(config: "a", method: "GET", target: "/-", data: "")))
  }

  @Test(arguments: ["a.b.Service/Method", "/a.b.Service/Method"])
  func readsStage(procedure: String) throws {
    #expect(
      try parse("stage \(procedure) rpc")
        == .stage(StageArguments(procedure: "a.b.Service/Method", change: StageChange(stage: "rpc"))))
  }

  @Test func readsAllMethodsOfAService() throws {
    #expect(
      try parse("stage /a.B/* rest")
        == .stage(StageArguments(procedure: "a.B/*", change: StageChange(stage: "rest"))))
    #expect(try parse("stage a.B/* --clear") == .clearStage(ClearArguments(procedure: "a.B/*")))
  }

  @Test(arguments: [("5", 5.0), ("2.5%", 2.5), ("0", 0), ("100%", 100), ("0.05", 0.05)])
  func readsPercent(text: String, number: Double) throws {
    let command = try parse("stage S/M canary --percent \(text) --reason slow --admin http://[::1]:99/")
    let change = StageChange(stage: "canary", percent: number, reason: "slow")
    #expect(
      command == .stage(StageArguments(procedure: "S/M", change: change, admin: AdminURL(host: "::1", port: 99))))
  }

  @Test(arguments: [
    ("", "a command is missing"), ("sevre", "did you mean serve?"), ("stge", "did you mean stage?"),
    ("zzzzzz", "unknown command zzzzzz"), ("--verison", "did you mean --version?"), ("--version now", "stands alone"),
    ("serve", "--config FILE is missing"), ("serve --config", "needs a value"), ("serve --config=", "missing"),
    ("serve --confg a", "did you mean --config?"), ("serve --config a b", "unexpected argument \"b\""),
    ("serve a", "--config a"), ("serve a --config b", "unexpected argument \"a\""),
    ("serve --config a --config b", "given twice"),
    ("check -x", "unknown option -x"), ("routes --config a --json=1", "takes no value"), ("demo now", "unexpected"),
    ("routes --config a --admin b:1", "do not go together"), ("routes --ca x", "https"),
    ("explain --config a", "METHOD is missing"), ("explain --config a GET", "TARGET is missing"),
    ("explain GET /x", "--config FILE is missing"), ("explain --config a GET x", "begin with /"),
    ("explain --config a G{T /x", "not an HTTP method"), ("explain --config a GET /#x", "percent-encoded"),
    ("explain --config a GET /x -H nothing", "'name: value'"), ("explain --config a GET /x -H :x", "not a legal"),
    ("stage", "PROCEDURE is missing"), ("stage S/M", "STAGE is missing"), ("stage S/M rcp", "did you mean rpc?"),
    ("stage S/M shadwo", "did you mean shadow?"), ("stage S/M elsewhere", "rest, shadow, canary or rpc"),
    ("stage SM rpc", "not a procedure"), ("stage //S/M rpc", "not a procedure"), ("stage S/M/ rpc", "not a procedure"),
    ("stage S/M* rpc", "not a procedure"), ("stage */* rpc", "not a procedure"), ("stage * rpc", "not a procedure"),
    ("hold S/*", "not a procedure"), ("explain --config a GET /x --stage rcp", "did you mean rpc?"),
    ("explain --config a GET /x --stage rpc --admin http://a", "do not go together"),
    ("stage S/M? rpc", "not a procedure"), ("stage S/M rpc --percent 101", "0 to 100"),
    ("stage S/M rpc --percent -1", "0 to 100"), ("stage S/M rpc --percent %", "0 to 100"),
    ("stage S/M rpc --percent 1e1", "0 to 100"), ("stage S/M rpc --percent nan", "0 to 100"),
    ("stage S/M rpc --admin https://x:0", "not an admin URL"), ("stage S/M rpc --admin http://x:0", "not an admin URL"),
    ("stage S/M rpc --admin http://x:99999", "not an admin URL"),
    ("stage S/M rpc --admin http://x/y", "not an admin URL"),
    ("stage S/M rpc --admin http://u@x", "not an admin URL"), ("stage S/M rpc --admin http://[::1", "not an admin URL"),
    ("stage S/M rpc --admin http://", "not an admin URL"),
    ("stage S/M rpc --admin ftp://a", "not an admin URL"),
    ("stage S/M rpc --ca ca.pem", "https"), ("stage S/M rpc --admin http://a --ca ca.pem", "https"),
    ("help me", "unknown command me"),
    ("help serve check", "one command"), ("help serv", "did you mean serve?"),
  ])
  func wrongUsage(line: String, word: String) throws {
    let error = #expect(throws: UsageError.self) { try parse(line) }
    let message = try #require(error).message
    #expect(message.contains(word), "\(message)")
  }

  @Test func headersWithControlBytesAreRefused() {
    #expect(throws: UsageError.self) {
      try Command(parsing: ["explain", "--config", "a", "GET", "/x", "-H", "a: b\r\nc: d"])
    }
  }

  @Test(arguments: [
    ("http://127.0.0.1:9901", "127.0.0.1:9901"), ("HTTP://localhost", "localhost:80"), ("host:1", "host:1"),
    ("http://[fe80::1]/", "[fe80::1]:80"), ("https://host", "host:443"), ("HTTPS://[::1]:9901/", "[::1]:9901"),
  ])
  func readsAdminURLs(text: String, authority: String) throws {
    #expect(try #require(AdminURL(text)).authority == authority)
  }
}
