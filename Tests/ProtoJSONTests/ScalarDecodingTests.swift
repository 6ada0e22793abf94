import Testing

@testable import ProtoJSON

@Suite struct ScalarDecodingTests {
  struct Accepted: Sendable {
    let field: String
    let json: String
    /// What is written back.
    let canonical: String
  }

  private static let acceptedRows: [(String, String, String)] = [
    ("fInt32", "1", "1"), ("fInt32", "-2147483648", "-2147483648"), ("fInt32", "2147483647", "2147483647"),
    ("fInt32", "\"17\"", "17"), ("fInt32", "\"-17\"", "-17"), ("fInt32", "1e5", "100000"),
    ("fInt32", "100000.000", "100000"), ("fInt32", "2.147483647e9", "2147483647"), ("fInt32", "-0", "0"),
    ("fInt32", "1E+2", "100"), ("fInt32", "1200e-2", "12"), ("fInt32", "\"1e2\"", "100"),
    ("fInt32", "\"\\u0031\"", "1"), ("fInt32", "0e99999999999", "0"),
    ("fInt32", "1000000000000000000000000000000000000000000000000e-47", "10"),
    ("fSint32", "-1", "-1"), ("fSint32", "-2147483648", "-2147483648"), ("fSfixed32", "-5", "-5"),
    ("fUint32", "4294967295", "4294967295"), ("fUint32", "4.294967295e9", "4294967295"),
    ("fFixed32", "4294967295", "4294967295"), ("fUint32", "-0", "0"),
    ("fInt64", "\"9007199254740993\"", "\"9007199254740993\""),
    ("fInt64", "9223372036854774784", "\"9223372036854774784\""),
    ("fInt64", "9223372036854775807", "\"9223372036854775807\""),
    ("fInt64", "-9223372036854775808", "\"-9223372036854775808\""), ("fInt64", "1e3", "\"1000\""),
    ("fInt64", "9.223372036854775807e18", "\"9223372036854775807\""), ("fSint64", "-1", "\"-1\""),
    ("fSint64", "-9223372036854775808", "\"-9223372036854775808\""), ("fSfixed64", "\"-9\"", "\"-9\""),
    ("fUint64", "18446744073709551615", "\"18446744073709551615\""),
    ("fUint64", "\"18446744073709551615\"", "\"18446744073709551615\""), ("fFixed64", "7", "\"7\""),
    ("fBool", "true", "true"), ("fBool", "false", "false"),
    ("fDouble", "1.5", "1.5"), ("fDouble", "\"1.5\"", "1.5"), ("fDouble", "\"NaN\"", "\"NaN\""),
    ("fDouble", "\"Infinity\"", "\"Infinity\""), ("fDouble", "\"-Infinity\"", "\"-Infinity\""),
    ("fDouble", "1.7976931348623157e308", "1.7976931348623157e+308"), ("fDouble", "5e-324", "5e-324"),
    ("fDouble", "0.1", "0.1"), ("fDouble", "1e-5", "0.00001"), ("fDouble", "-0", "-0.0"), ("fDouble", "-0.0", "-0.0"),
    ("fDouble", "123456789012345678", "1.2345678901234568e+17"), ("fDouble", "100", "100"),
    ("fDouble", "35.68995", "35.68995"), ("fDouble", "0.30000000000000004", "0.30000000000000004"),
    ("fDouble", "1e-99999", "0"), ("fDouble", "2.2250738585072011e-308", "2.225073858507201e-308"),
    ("fFloat", "1.5", "1.5"), ("fFloat", "3.4028235e38", "3.4028235e+38"), ("fFloat", "0.1", "0.1"),
    ("fFloat", "16777217", "16777216"), ("fFloat", "\"Infinity\"", "\"Infinity\""), ("fFloat", "-0.0", "-0.0"),
    ("fFloat", "1.17549435e-38", "1.1754944e-38"), ("fFloat", "0.3333333432674408", "0.33333334"),
    ("fString", "\"\"", "\"\""), ("fString", "\"abc\"", "\"abc\""),
    ("fString", "\"\\u00e4\\n\\\"\\\\\\/\"", "\"ä\\n\\\"\\\\/\""),
    ("fString", "\"\\ud83d\\ude00\"", "\"😀\""), ("fString", "\"\\uD83D\\uDE00\"", "\"😀\""),
    ("fString", "\"\\b\\f\\r\\t\\u0001\\u001f\"", "\"\\b\\f\\r\\t\\u0001\\u001f\""),
    ("fString", "\"\\u0000\"", "\"\\u0000\""),
    ("fString", "\"äöü long enough for two blocks of sixteen\"", "\"äöü long enough for two blocks of sixteen\""),
    ("fString", "\"exactly sixteen!\"", "\"exactly sixteen!\""), ("fString", "\"\u{7f}\"", "\"\u{7f}\""),
    ("fBytes", "\"\"", "\"\""), ("fBytes", "\"-_\"", "\"+w==\""), ("fBytes", "\"-__-\"", "\"+//+\""),
    ("fBytes", "\"+/8=\"", "\"+/8=\""), ("fBytes", "\"-_8\"", "\"+/8=\""),
    ("fBytes", "\"AQ\\u003d\\u003d\"", "\"AQ==\""),
  ]

  static let accepted = acceptedRows.map { Accepted(field: $0.0, json: $0.1, canonical: $0.2) }

  @Test(arguments: accepted) func accepts(_ row: Accepted) throws {
    let wire = try Bench.standard.decode("{\"\(row.field)\":\(row.json)}", "t.Optionals")
    #expect(try Bench.standard.encode(wire, "t.Optionals") == "{\"\(row.field)\":\(row.canonical)}")
    // As an element of a list, and without presence.
    #expect(
      try Bench.standard.normalize("{\"\(row.field)\":[ \(row.json) ]}", "t.Lists")
        == "{\"\(row.field)\":[\(row.canonical)]}")
    let implicit = try Bench.standard.decode("{\"\(row.field)\":\(row.json)}", "t.Scalars")
    let isDefault = ["0", "\"0\"", "false", "\"\""].contains(row.canonical)
    #expect(implicit == (isDefault ? [] : wire))
  }

  struct Refused: Sendable {
    let field: String
    let json: String
    let kind: JSONError.Kind
    /// Beyond the beginning of the value.
    let offset: Int
  }

  private static let refusedRows: [(String, String, JSONError.Kind, Int)] = [
    ("fInt32", "2147483648", .range, 0), ("fInt32", "-2147483649", .range, 0), ("fInt32", "1e10", .range, 0),
    ("fInt32", "1e999999999999", .range, 0), ("fInt32", "1.5", .type, 0), ("fInt32", "1e-1", .type, 0),
    ("fInt32", "0.00000000000000000000000000000000000000000000000001", .type, 0),
    ("fInt32", "10000000000000000000000000000000000000000000000001e-49", .type, 0),
    ("fInt32", "+1", .syntax, 0), ("fInt32", "01", .syntax, 0), ("fInt32", "-01", .syntax, 0),
    ("fInt32", "-", .syntax, 0),
    ("fInt32", "1.", .syntax, 0), ("fInt32", ".5", .syntax, 0), ("fInt32", "1e", .syntax, 0),
    ("fInt32", "\" 1\"", .type, 0), ("fInt32", "\"1 \"", .type, 0), ("fInt32", "\"\"", .type, 0),
    ("fInt32", "\"a\"", .type, 0),
    ("fInt32", "\"+1\"", .type, 0), ("fInt32", "\"01\"", .type, 0), ("fInt32", "true", .type, 0),
    ("fInt32", "[]", .type, 0),
    ("fInt32", "{}", .type, 0), ("fInt32", "NaN", .syntax, 0),
    ("fUint32", "-1", .range, 0), ("fUint32", "4294967296", .range, 0), ("fFixed32", "4294967296", .range, 0),
    ("fInt64", "9223372036854775808", .range, 0), ("fInt64", "-9223372036854775809", .range, 0),
    ("fInt64", "\"9223372036854775808\"", .range, 0), ("fInt64", "1.5", .type, 0),
    ("fUint64", "18446744073709551616", .range, 0), ("fUint64", "99999999999999999999", .range, 0),
    ("fUint64", "-1", .range, 0), ("fSint64", "9223372036854775808", .range, 0),
    ("fBool", "\"true\"", .type, 0), ("fBool", "1", .type, 0), ("fBool", "0", .type, 0), ("fBool", "True", .syntax, 0),
    ("fBool", "tru", .type, 0),
    ("fDouble", "NaN", .syntax, 0), ("fDouble", "Infinity", .syntax, 0), ("fDouble", "-Infinity", .syntax, 0),
    ("fDouble", "1.9e308", .range, 0), ("fDouble", "-1.9e308", .range, 0), ("fDouble", "\"nan\"", .type, 0),
    ("fDouble", "\"\"", .type, 0), ("fDouble", "\"1.5x\"", .type, 0), ("fDouble", "\" 1.5\"", .type, 0),
    ("fDouble", "\"0x1p3\"", .type, 0), ("fDouble", "01.5", .syntax, 0), ("fDouble", "1.e1", .syntax, 0),
    ("fFloat", "3.5e38", .range, 0), ("fFloat", "\"1e39\"", .range, 0),
    ("fString", "1", .type, 0), ("fString", "true", .type, 0), ("fString", "'a'", .syntax, 0),
    ("fString", "\"\\U0041\"", .syntax, 1), ("fString", "\"\\u004\"", .syntax, 1), ("fString", "\"ab\\x\"", .syntax, 3),
    ("fString", "\"\\ud83d\"", .utf8, 1), ("fString", "\"\\ude00\\ud83d\"", .utf8, 1),
    ("fString", "\"\\ud83d\\u0041\"", .utf8, 1),
    ("fString", "\"a\u{1}b\"", .syntax, 2), ("fString", "\"a\nb\"", .syntax, 2),
    ("fBytes", "\"a\"", .type, 0), ("fBytes", "\"a===\"", .type, 0), ("fBytes", "\"ab!d\"", .type, 0),
    ("fBytes", "5", .type, 0),
  ]

  static let refused = refusedRows.map { Refused(field: $0.0, json: $0.1, kind: $0.2, offset: $0.3) }

  @Test(arguments: refused) func refuses(_ row: Refused) throws {
    let json = "{\"\(row.field)\":\(row.json)}"
    let error = try Bench.standard.refusal(json, "t.Scalars")
    #expect(error.kind == row.kind, "\(json): \(error)")
    #expect(error.path == row.field, "\(json): \(error)")
    #expect(error.offset == row.field.utf8.count + 4 + row.offset, "\(json): \(error)")
    let inList = try Bench.standard.refusal("{\"\(row.field)\":[\(row.json)]}", "t.Lists")
    #expect(inList.kind == row.kind, "\(json): \(inList)")
    #expect(inList.path == "\(row.field)[0]", "\(json): \(inList)")
  }

  static let malformedUTF8: [[UInt8]] = [
    [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
    [0xF4, 0x90, 0x80, 0x80],
    [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFF], [0xC3, 0x28], [0xE2, 0x82],
  ]

  @Test(arguments: malformedUTF8) func refusesMalformedUTF8(_ bytes: [UInt8]) throws {
    for padding in [0, 1, 14, 15, 16, 17, 40] {
      let before = Array("{\"fString\":\"".utf8) + Array(repeating: UInt8(ascii: "a"), count: padding)
      let error = try Bench.standard.refusal(before + bytes + Array("\"}".utf8), "t.Scalars")
      #expect(error.kind == .utf8)
      #expect(error.offset == before.count)
      #expect(error.path == "fString")
      let escaped = Array("{\"fString\":\"\\n".utf8) + bytes + Array("\"}".utf8)
      #expect(try Bench.standard.refusal(escaped, "t.Scalars").kind == .utf8)
      let key = Array("{\"".utf8) + bytes + Array("\":1}".utf8)
      #expect(try Bench.standard.refusal(key, "t.Scalars").kind == .utf8)
    }
  }

  @Test func stringsOfEveryLengthSurvive() throws {
    for length in 0..<70 {
      for mark in ["", "\\n", "ä", "\\u00e4"] {
        let plain = String(repeating: "x", count: length)
        let json = "{\"fString\":\"\(plain)\(mark)\(plain)\"}"
        let shown = mark == "\\u00e4" ? "ä" : mark
        #expect(try Bench.standard.normalize(json, "t.Optionals") == "{\"fString\":\"\(plain)\(shown)\(plain)\"}")
      }
    }
  }
}
