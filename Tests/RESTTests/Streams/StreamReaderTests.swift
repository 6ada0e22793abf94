import Bytes
import HTTPModel
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Streams from REST callers")
struct StreamReaderTests {
  /// The messages of a body that arrives in pieces; the refusal as the last element.
  private func read(
    _ pieces: [ArraySlice<UInt8>], _ form: StreamReader.Form, maximum: Int = 100
  ) -> [String] {
    var reader = StreamReader(form, maximumMessage: maximum)
    var input = ByteBuffer()
    var messages: [String] = []
    for (index, piece) in pieces.enumerated() {
      input.append(Array(piece))
      do {
        if try take(&reader, &input, isLast: index == pieces.count - 1, &messages) { return messages }
      } catch {
        return messages + ["\((error as? RPCError)?.code.name ?? "?")"]
      }
    }
    return messages + ["no end"]
  }

  /// True at the end of the body.
  private func take(
    _ reader: inout StreamReader, _ input: inout ByteBuffer, isLast: Bool, _ messages: inout [String]
  ) throws -> Bool {
    while true {
      switch try reader.next(&input, isLast: isLast) {
      case .needsMore: return false
      case .end:
        #expect(input.count == 0)
        return true
      case .message(let count):
        messages.append(String(repairing: input.span.extracting(first: count)))
        input.consume(count)
        #expect(reader.messages == messages.count)
      }
    }
  }

  private func check(_ body: String, _ form: StreamReader.Form, _ expected: [String], maximum: Int = 100) {
    let bytes = Array(body.utf8)
    for cut in 0...bytes.count {
      #expect(read([bytes[..<cut], bytes[cut...]], form, maximum: maximum) == expected, "\(body) cut at \(cut)")
    }
    #expect(read(bytes.indices.map { bytes[$0...$0] } + [[]], form, maximum: maximum) == expected)
  }

  private let messages = [#"{"a":"}]\"\\","b":[{},[1]]}"#, "{}", "[1,[2]]", #""x\"y""#, "12", "null", "-1.5e3"]

  @Test func lines() {
    check(messages.joined(separator: "\n"), .lines, messages)
    check(messages.joined(separator: "\r\n") + "\r\n\n", .lines, messages)
    check("\n\n {} \t{}\n", .lines, ["{}", "{}"])
    check("", .lines, [])
    check(" \n ", .lines, [])
  }

  @Test func valuesWithoutBlanksBetween() {
    check(#"{}{"a":1}[]"x"{}"#, .lines, ["{}", #"{"a":1}"#, "[]", #""x""#, "{}"])
    check(#"12{}true[]"#, .lines, ["12", "{}", "true", "[]"])
  }

  @Test func arrays() {
    for form in [StreamReader.Form.array, .json] {
      check("[" + messages.joined(separator: ",") + "]", form, messages)
      check(" [ " + messages.joined(separator: " ,\n ") + " ] \n", form, messages)
      check("[]", form, [])
      check("[{}]", form, ["{}"])
    }
    // A line that is an array is a message.
    check("[1]\n[2]", .lines, ["[1]", "[2]"])
    check("{}\n{}", .json, ["{}", "{}"])
    check("", .json, [])
  }

  @Test(arguments: [
    ("[", 0), ("[{}", 1), ("[{},", 1), ("[,]", 0), ("[{},]", 1), ("[{},,{}]", 1), ("[{}{}]", 1), ("[{}] {}", 1),
    ("[{}]]", 1), ("[{}:{}]", 1), ("[{} {}]", 1), ("", 0), ("{}", 0), ("12", 0),
  ])
  func brokenArrays(body: String, messages: Int) {
    let expected = Array(repeating: "{}", count: messages) + ["invalid_argument"]
    check(body, .array, expected)
  }

  @Test func valuesThatEndEarly() {
    for body in [#"{"a"#, #"{"a":"x"#, "{", "[{}", #""x"#, #""x\"#] {
      check(body, .lines, ["invalid_argument"])
    }
    check("{}\n{", .lines, ["{}", "invalid_argument"])
    check("[{},{", .json, ["{}", "invalid_argument"])
    check("[12", .json, ["12", "invalid_argument"])
  }

  @Test func strayBytesAreMessagesThatNoCodecReads() {
    check("},]{}", .lines, ["}", ",", "]", "{}"])
    check("[}]", .array, ["}"])
  }

  @Test func theLimitIsInclusive() {
    let exact = #"{"a":"1234"}"#
    check(exact + "\n" + exact, .lines, [exact, exact], maximum: exact.utf8.count)
    check("[\(exact)]", .array, [exact], maximum: exact.utf8.count)
    check(exact, .lines, ["resource_exhausted"], maximum: exact.utf8.count - 1)
    check("[\(exact),{}]", .array, ["resource_exhausted"], maximum: exact.utf8.count - 1)
    // Seen before the end is there.
    let endless = Array(String(repeating: "[", count: 101).utf8)
    #expect(read([endless[...], []], .lines) == ["resource_exhausted"])
    // Blanks between messages are no message.
    check(String(repeating: " ", count: 500) + "{}", .lines, ["{}"])
  }

  @Test func rawPieces() {
    let bytes = Array("abcdef".utf8)
    #expect(read([bytes[..<2], bytes[2...]], .raw) == ["ab", "cdef"])
    #expect(read([bytes[...], []], .raw, maximum: 4) == ["abcd", "ef"])
    #expect(read([[]], .raw) == [""])
    #expect(read([[], [], bytes[...]], .raw) == ["abcdef"])
    let long = Array(repeating: UInt8(ascii: "x"), count: 70_000)
    #expect(read([long[...]], .raw, maximum: 1_000_000).map(\.utf8.count) == [65_536, 4_464])
  }

  private func form(_ binding: RESTBinding, _ type: String?) -> String {
    let fields = FieldBlock()
    if let type { fields.append("Content-Type", type) }
    do throws(RPCError) {
      return "\(try binding.requestForm(fields))"
    } catch {
      return "\(error.httpStatus ?? 0) \(error.code.name)"
    }
  }

  @Test func byContentType() throws {
    let json = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1", body: "*")).binding
    #expect(form(json, nil) == "json")
    #expect(form(json, "application/json; charset=utf-8") == "json")
    #expect(form(json, "application/vnd.x+json") == "json")
    for type in ["application/x-ndjson", "application/jsonl", "Application/NDJSON;a=b"] {
      #expect(form(json, type) == "lines")
    }
    #expect(form(json, "text/plain") == "415 invalid_argument")
    #expect(form(json, "application/connect+json") == "415 invalid_argument")
    let raw = try Fixture("p.ScanReq", HTTPRule(method: "POST", path: "/v1/{id}", body: "scan")).binding
    #expect(form(raw, "image/png") == "raw")
    #expect(form(raw, nil) == "raw")
    let none = try Fixture("p.GetReq", HTTPRule(method: "POST", path: "/v1/{id}")).binding
    #expect(form(none, nil) == "0 unimplemented")
  }
}
