import JSONValues
import Testing

@testable import turnout

/// What `status` and `report` make of an answer of `/routes`.
@Suite struct StatusTests {
  static let json = #"""
    {"replica":"gw:9901","now":"2026-11-30T13:00:00Z","routes":[
    {"procedure":"a.b.Tags/List","stage":"rpc","percent":100,"configured_stage":"rest","backends":{"rest":"old","rpc":"new"},
     "calls":{"rest":5,"rpc":90,"none":1},"override":{"stage":"rpc","by":"ada","at":"2026-11-30T12:00:00Z","reason":"it | <b>runs</b>"},
     "sides":{"rest":null,"rpc":{"requests":75,"failures":1,"error_rate":0.0133,"rate":1.25,"latency_ms":{"p50":3,"p95":12.3,"p99":40}}},
     "callers":{"rest":[{"agent":"okhttp","version":"4.9","requests":7,"last_seen":"2026-11-30T12:59:00Z"}],"rpc":[]}},
    {"procedure":"a.b.Tags/Get","stage":"canary","percent":12.5,"configured_stage":"canary","configured_percent":25,
     "backends":{"rest":"old","rpc":"new"},"calls":{"rest":10,"rpc":2,"none":0},
     "sides":{"rest":{"requests":20,"error_rate":0,"rate":0.5},"rpc":{"requests":5,"error_rate":0.2,"rate":0.1}},
     "guard":{"state":"tripped","reason":"20 % of calls failed","previous":{"stage":"canary","percent":25}}},
    {"procedure":"a.b.Tags/Find","stage":"shadow","backends":{"rest":"old","rpc":"new"},"calls":{"rest":10,"rpc":0,"none":0},
     "shadow":{"match":7,"mismatch":3,"error":0,"differences":[{"path":"tags[].n","kind":"changed","count":3}]}},
    {"procedure":"a.b.Tags/Add","stage":"rest","backends":{"rest":"old","rpc":null}}]}
    """#

  private func status(_ json: String = json) throws -> GatewayStatus {
    try #require(GatewayStatus(try JSONValue(parsing: Array(json.utf8))))
  }

  @Test func readsWhatIsThere() throws {
    let status = try status()
    #expect(status.progress == "1 of 4 routes moved; 80 % of recent calls answered by RPC")
    #expect(status.routes.map(\.effective.text) == ["rpc", "canary 12.5 %", "shadow", "rest"])
    #expect(status.routes[0].rate == 1.25 && status.routes[3].rate == nil)
    #expect(status.routes[1].notes == ["guard tripped: 20 % of calls failed"])
    #expect(status.routes[0].notes == ["override by ada"])
  }

  @Test func callsThatWereAskedAgainAreToldAndComeBeforeTheEnd() throws {
    func route(_ fallback: String) throws -> RouteStatus {
      let json =
        #"{"routes":[{"procedure":"a/B","stage":"rpc","backends":{"rest":"o","rpc":"n"},"fallback":"# + fallback + "}]}"
      return try #require(try status(json).routes.first)
    }
    let some = try route(#"{"rest":{"answered":1,"failed":2},"rpc":{"answered":4,"late":9}}"#)
    #expect(some.notes == ["7 asked again, 2 in vain"])
    #expect(some.nextStep.hasPrefix("4 calls failed on the RPC side and went to REST"))
    for none in [#"{"rest":{},"rpc":{}}"#, "null"] {
      let none = try route(none)
      #expect(none.notes.isEmpty && none.nextStep == "Watch who still calls the REST face.")
    }
  }

  @Test func whatTheDryRunRefusesComesBeforeAnyMove() throws {
    let route = try #require(
      try status(
        #"""
        {"routes":[{"procedure":"a/B","stage":"rest","backends":{"rest":"o","rpc":"n"},
         "dry_run":{"requests":9,"refused":2,"misfit":3,"skipped":1},"shadow":{"match":0,"differences":[
          {"path":"views","kind":"changed","count":9},{"path":"_","kind":"request","count":2},{"path":"id","kind":"type","count":3}]}}]}
        """#
      ).routes.first)
    #expect(route.notes == ["dry run: 5 of 9 unfit"])
    let says = "The dry run refused 2 of 9 calls, and 3 answers did not fit, most at `id` (type): "
    #expect(route.nextStep.hasPrefix(says))
  }

  @Test(arguments: [
    (#"{"skipped":{}}"#, "Wait"), (#"{"skipped":{"unsafe":3,"size":1}}"#, "It may have side effects"),
    (#"{"skipped":{"streaming":3}}"#, "Streams have no copies"), ("null", "Streams have no copies"),
    (#"{"skipped":{"max_`rate":2}}"#, "No answer was compared yet; 2 calls were left out (max_'rate)."),
    (#"{"match":1,"skipped":{"unsafe":3}}"#, "1 answers are the same"),
  ])
  func aRouteWithoutComparisonsSaysWhy(shadow: String, says: String) throws {
    let json =
      #"{"routes":[{"procedure":"a/B","stage":"shadow","backends":{"rest":"o","rpc":"n"},"shadow":"# + shadow + "}]}"
    #expect(try #require(try status(json).routes.first).nextStep.hasPrefix(says))
  }

  @Test func aFaceThatNobodyCalledIsRetiredWithCare() throws {
    let json =
      #"{"routes":[{"procedure":"a/B","stage":"rpc","backends":{"rest":"o","rpc":"n"},"callers":{"calls":{"rest":0}}}]}"#
    #expect(try #require(try status(json).routes.first).nextStep.hasSuffix("and every replica says so."))
  }

  @Test func anythingElseIsNoStatus() throws {
    for json in ["[]", "{}", #"{"routes":3}"#] {
      #expect(GatewayStatus(try JSONValue(parsing: Array(json.utf8))) == nil)
    }
    let odd = try status(#"{"routes":[{"procedure":1},{"procedure":"a/B","stage":"rest","sides":3,"guard":"x"},7]}"#)
    #expect(odd.routes.count == 1 && odd.progress == "0 of 1 route moved")
  }

  @Test(arguments: [40, 60, 80, 100, 120, 200]) func theTableFitsTheTerminal(width: Int) throws {
    let lines = StatusTable(width: width, hasColors: false).text(of: try status()).split(separator: "\n")
    for line in lines { #expect(line.count <= width, "\(line)") }
    let text = lines.joined(separator: "\n")
    // Of every width the stage, the errors and the trip are to be seen.
    for part in ["/List", "canary 12.5 %", "20 %", "guard tripped"] {
      #expect(text.contains(part), "\(width): \(part)")
    }
  }

  @Test func withoutATerminalNothingIsCut() throws {
    let text = StatusTable(width: nil, hasColors: false).text(of: try status())
    let row = try #require(text.split(separator: "\n").first { $0.hasPrefix("a.b.Tags/Get") })
    #expect(
      row.split(separator: "  ").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        == ["a.b.Tags/Get", "canary12.5%", "0.6", "0%", "20%", "-", "-", "-", "guardtripped:20%ofcallsfailed"])
    #expect(!text.contains("\u{1B}"))
    #expect(StatusTable(width: nil, hasColors: true).text(of: try status()).contains("\u{1B}[31m"))
  }

  @Test func whatIsWrongWithTheGatewayStandsAboveItsRoutes() throws {
    let status = try status(
      Self.json.replacing(#""routes":["#, with: #""warnings":["redis is\u001b[2J away: `x` waits",7],"routes":["#))
    #expect(status.warnings == ["redis is [2J away: `x` waits"])
    let lines = StatusTable(width: 40, hasColors: false).text(of: status).split(separator: "\n")
    #expect(lines[2] == "warning: redis is [2J away: `x` waits")
    #expect(MarkdownReport.text(of: status).contains("\n\n**Warning:** redis is \\[2J away: `x` waits.\n\n"))
  }

  @Test func noTextMovesTheCursor() throws {
    let json = Self.json.replacing("20 % of calls failed", with: "bad\\u001b[2J\\n\\u202eline")
    let status = try status(json)
    for text in [StatusTable(width: nil, hasColors: false).text(of: status), MarkdownReport.text(of: status)] {
      #expect(text.contains("bad [2J  line") || text.contains("bad \\[2J  line"))
      #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
    }
  }

  @Test func theReportSaysWhatToDo() throws {
    let text = MarkdownReport.text(of: try status())
    #expect(
      text.hasPrefix(
        "# The move to RPC\n\n1 of 4 routes moved; 80 % of recent calls answered by RPC (of gw:9901 at 2026"))
    for line in [
      "| `a.b.Tags/List` | rpc | 1.25 | - | 1.33 % | - | 12 ms | - | override by ada |",
      "| `Find` | `tags[].n` | changed | 3 |",
      "| `List` | rpc | rest | ada | 2026-11-30T12:00:00Z | it \\| \\<b\\>runs\\</b\\> |",
      "| okhttp 4.9 | 7 | 2026-11-30T12:59:00Z | List |",
      "- `List` (rpc): 1 caller still uses the REST face.",
      "- `Get` (canary 12.5 %): The guard took it back (20 % of calls failed). Find the cause, then set canary 25 % again.",
      "- `Find` (shadow): 3 of 10 answers differ, most at `tags[].n` (changed): mend the new backend, or name what "
        + "may differ in `shadow.ignore`.",
      "- `Add` (rest): It has no RPC backend yet: name one with `rpc:`.",
    ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)") }
  }

  @Test func figuresAreShort() {
    #expect([0, 0.004, 1.25, 12.34, 1234.5].map { Figures.rate($0) } == ["0", "<0.01", "1.25", "12.3", "1235"])
    #expect([0, 0.00001, 0.0123, 0.5, 1].map { Figures.share($0) } == ["0 %", "<0.01 %", "1.23 %", "50 %", "100 %"])
    #expect(Figures.milliseconds(0.25) == "0.3 ms" && Figures.milliseconds(nil) == "-")
    #expect(Figures.decimal(.infinity, digits: 2) == "-" && Figures.decimal(-1.5, digits: 1) == "-1.5")
    #expect(Figures.decimal(0.999, digits: 2) == "1" && Figures.decimal(2.05, digits: 2) == "2.05")
  }
}
