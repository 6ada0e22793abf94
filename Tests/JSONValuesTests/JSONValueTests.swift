import JSONValues
import RPC
import Testing

@Suite struct JSONValueTests {
  private func parse(_ text: String) throws(JSONFault) -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  @Test func readsEveryKind() throws {
    let value = try parse(#" { "a" : [ 1 , -0.5e+3, true, false, null ] , "b" : { } , "c" : [] } "#)
    #expect(value["a"]?.elements?.map(\.number) == [1, -500, nil, nil, nil])
    #expect(value["a"]?.elements?.suffix(3) == [true, false, .null])
    #expect(value["b"] == .object([]))
    #expect(value["c"] == [])
    #expect(value["d"] == nil)
  }

  @Test func readsEscapes() throws {
    #expect(try parse(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude80""#) == "\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{1F680}")
  }

  @Test(arguments: [
    "", " ", "{", "}", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, "tru", "truex", "nul", "01", "-",
    "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "'a'", #""a"#, #""\x""#, #""\u12""#, #""\ud800""#, #""\udc00""#,
    #""\ud800\u0041""#, "\"\n\"", "1 2", "[1] ]", #"{"a":1,"a":2}"#, "{\"a\":1,\"\\u0061\":2}", "// x\n1", "\u{FEFF}1",
  ])
  func refuses(text: String) {
    #expect(throws: JSONFault.self) { try parse(text) }
  }

  @Test func refusesBadUTF8() {
    #expect(throws: JSONFault.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    #expect(throws: JSONFault.self) { try JSONValue(parsing: [0x22, 0xC0, 0x80, 0x22]) }
  }

  @Test func everyPrefixOfAnObjectIsRefused() {
    let text = Array(#"{"stage":"canary","percent":[1.5e2,null],"x":"\u00e9"}"#.utf8)
    for length in 0..<text.count {
      #expect(throws: JSONFault.self, "\(length)") { try JSONValue(parsing: Array(text[..<length])) }
    }
    #expect(throws: Never.self) { try JSONValue(parsing: text) }
  }

  @Test func depthIsBounded() throws {
    #expect(throws: Never.self) {
      try parse(String(repeating: "[", count: 16) + String(repeating: "]", count: 16))
    }
    #expect(throws: JSONFault.self) {
      try parse(String(repeating: "[", count: 17) + String(repeating: "]", count: 17))
    }
    #expect(throws: JSONFault.self) { try parse(String(repeating: "[", count: 100_000)) }
    #expect(throws: JSONFault.self) { try parse(String(repeating: #"{"a":"#, count: 100_000)) }
  }

  @Test func whatIsWrittenIsReadBack() throws {
    let value: JSONValue = [
      "text": "quote \" slash \\ line \n\r\t bell \u{7} del \u{7F} é 🚀", "list": [1, true, .null, "x"], "empty": [:],
      "number": .literal("-1.5e3"),
    ]
    #expect(try JSONValue(parsing: value.bytes) == value)
    let written = String(decoding: value.bytes, as: UTF8.self)
    #expect(written.contains(#"bell \u0007 del \u007f"#))
    #expect(written.allSatisfy { $0 >= " " })
  }
}
