import Testing

@testable import Diagnostics

@Suite struct DiagnosticTests {
  let place = SourcePosition(file: "turnout.yaml", line: 12, column: 5)

  @Test func isWrittenWithPlaceWhatAndCure() {
    let fault = Diagnostic(at: place, "unknown key `stagee`", cure: "did you mean `stage`?")
    #expect(fault.description == "turnout.yaml:12:5: error: unknown key `stagee`; did you mean `stage`?")
  }

  @Test func leavesAnEmptyCureOut() {
    #expect(Diagnostic(severity: .warning, at: place, "odd").description == "turnout.yaml:12:5: warning: odd")
  }

  @Test(arguments: ["\n", "\r\n", "\u{2028}", "\u{0B}"])
  func staysInOneLine(_ lineBreak: String) {
    #expect(Diagnostic(at: place, "a\(lineBreak)b").description == "turnout.yaml:12:5: error: a b")
  }
}

@Suite struct QuotedTests {
  @Test func showsPlainTextAsItIs() { #expect(quoted("größe 7") == "`größe 7`") }

  @Test func escapesWhatATerminalWouldObey() {
    #expect(quoted("a\u{1B}[31m\n\u{202E}b") == "`a\\u{1b}[31m\\u{a}\\u{202e}b`")
  }

  @Test func cutsLongText() {
    #expect(quoted(String(repeating: "x", count: 80)) == "`\(String(repeating: "x", count: 80))`")
    #expect(quoted(String(repeating: "x", count: 81)) == "`\(String(repeating: "x", count: 80))…`")
  }

  @Test func listsNames() {
    #expect(listed([String]()) == "")
    #expect(listed(["a"]) == "`a`")
    #expect(listed(["a", "b", "c"], "or") == "`a`, `b` or `c`")
  }
}

@Suite struct NearestTests {
  @Test(arguments: [
    ("stagee", "stage"), ("stgae", "stage"), ("Stage", "stage"), ("fallbak", "fallback"), ("rset", "rest"),
  ])
  func findsWhatWasMeant(_ written: String, _ meant: String) {
    #expect(Nearest.match(written, in: ["rest", "rpc", "stage", "fallback"]) == meant)
  }

  @Test(arguments: ["zzz", "", "stagecoach-robbery", String(repeating: "s", count: 100_000)])
  func findsNothingFarAway(_ written: String) {
    #expect(Nearest.match(written, in: ["rest", "stage"]) == nil)
  }

  @Test func takesTheFirstOfEqualOnes() {
    #expect(Nearest.match("ab", in: ["abc", "abd"]) == "abc")
    #expect(Nearest.match("x", in: [String]()) == nil)
  }

  @Test(arguments: [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 1)])
  func countsEdits(_ left: String, _ right: String, _ distance: Int) {
    #expect(Nearest.editDistance(left, right) == distance)
    #expect(Nearest.editDistance(right, left) == distance)
  }
}
