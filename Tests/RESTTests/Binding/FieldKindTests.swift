import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

/// Every kind of field as the body of a request, as the body of an answer, and as a query parameter; both ways.
@Suite("Field kinds")
struct FieldKindTests {
  static let kinds = """
    p.Kinds: 1 id string, 2 e p.Size, 3 i google.protobuf.Int32Value, 4 t google.protobuf.Timestamp, 5 s google.protobuf.Struct, 6 v google.protobuf.Value, 7 a google.protobuf.Any, 8 l google.protobuf.ListValue, 9 b bytes, 10 re p.Size repeated, 11 rm p.Point repeated, 12 m map<string;p.Point>, 13 d google.protobuf.Duration, 14 w google.protobuf.StringValue, 15 f google.protobuf.FieldMask, 16 u uint64, 17 g double, 18 y bool, 19 x string, 20 n google.protobuf.Empty, 21 rt google.protobuf.Timestamp repeated, 22 rv google.protobuf.Value repeated, 23 gr p.Point group, 24 o p.Parcel, 25 rs string repeated, 26 mi map<int64;int64>, 27 oi int32 optional, 28 ci int32 oneof=c, 29 cm p.Point oneof=c, 30 ra google.protobuf.Any repeated, 31 rw google.protobuf.Int64Value repeated
    """

  /// A field, its JSON, and its JSON when it is unset.
  static let bodies: [(field: String, json: String, unset: String)] = [
    ("e", #""SIZE_L""#, #""SIZE_UNSPECIFIED""#), ("i", "0", "null"), ("t", #""2026-01-01T00:00:00.500Z""#, "null"),
    ("s", #"{"a":{"b":[1,null,"x"]}}"#, "{}"), ("v", #"[1,{"k":null},true]"#, "null"), ("v", "2.5", "null"),
    ("v", #""x""#, "null"), ("a", #"{"@type":"type.googleapis.com/p.Point","lat":1.5}"#, "{}"),
    ("a", #"{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"}"#, "{}"), ("l", #"[1,[],{}]"#, "[]"),
    ("b", #""//8=""#, #""""#), ("re", #"["SIZE_S",7]"#, "[]"), ("rm", #"[{"lat":1},{}]"#, "[]"),
    ("m", #"{"k":{"lat":1}}"#, "{}"), ("d", #""-1.500s""#, "null"), ("w", #""""#, "null"),
    ("f", #""a,bC.d""#, "null"), ("u", #""18446744073709551615""#, #""0""#), ("g", "-0.5", "0"), ("g", #""NaN""#, "0"),
    ("y", "true", "false"), ("x", #""é\n""#, #""""#), ("n", "{}", "{}"),
    ("rt", #"["2026-01-01T00:00:00Z"]"#, "[]"), ("rv", #"[null,1,"a"]"#, "[]"), ("gr", #"{"lon":2}"#, "{}"),
    ("o", #"{"id":"q","to":{"geo":{"lat":1}}}"#, "{}"), ("rs", #"["a",""]"#, "[]"), ("mi", #"{"-1":"2"}"#, "{}"),
    ("oi", "0", "0"), ("ci", "0", "0"), ("cm", #"{"lat":3}"#, "{}"),
    ("ra", #"[{"@type":"x.y/p.Point","lat":1}]"#, "[]"), ("rw", #"["0","5"]"#, "[]"),
  ]

  private func fixture(_ rule: HTTPRule) throws -> Fixture {
    try Fixture("p.Kinds", "p.Kinds", rule, more: Self.kinds)
  }

  @Test("as the body of a request: read, and written towards a REST backend", arguments: bodies)
  func requests(field: String, json: String, unset: String) throws {
    let fixture = try fixture(HTTPRule(method: "PUT", path: "/v1/{id}", body: field))
    let message = "{\"id\":\"p\",\"\(field)\":\(json)}"
    #expect(try fixture.receive("/v1/p", body: json) == message)
    #expect(try fixture.receive("/v1/p", body: " \(json)\n", contentType: "application/json") == message)
    #expect(try fixture.send(message) == "/v1/p [application/json] \(json)")
    #expect(try fixture.receive("/v1/p") == #"{"id":"p"}"#)
    #expect(try fixture.send(#"{"id":"p"}"#) == "/v1/p [application/json] \(unset)")
    for wrong in ["[[]]", "\"\\ud800\"", "\(json),", "{\"a\":}", "tru"] {
      if ["v", "l", "rv"].contains(field), wrong == "[[]]" { continue }
      let answer = try fixture.receive("/v1/p", body: wrong)
      #expect(answer.hasPrefix("400 invalid_argument"), "\(field): \(wrong): \(answer)")
    }
  }

  @Test("as the body of an answer: written, and read from a REST backend", arguments: bodies)
  func answers(field: String, json: String, unset: String) throws {
    let fixture = try fixture(HTTPRule(method: "GET", path: "/v1/{id}", responseBody: field))
    var body = ByteBuffer()
    let set = try fixture.wire("{\"id\":\"p\",\"\(field)\":\(json)}", "p.Kinds")
    let type = try fixture.binding.encodeResponse(set.span, envelope: nil, into: &body)
    #expect("[\(type)] \(String(repairing: body.span))" == "[application/json] \(json)")
    body.removeAll()
    let empty: [UInt8] = []
    _ = try fixture.binding.encodeResponse(empty.span, envelope: "data", into: &body)
    #expect(String(repairing: body.span) == "{\"data\":\(unset)}")
    var wire = ByteBuffer()
    var unknown: [String] = []
    try fixture.binding.decodeResponse(
      status: 200, contentType: nil, body: Array(json.utf8).span, envelope: nil, unknown: &unknown, into: &wire)
    #expect(try fixture.json(wire.span, "p.Kinds") == "{\"\(field)\":\(json)}")
  }

  /// A type, three texts as they are written, and their JSON; the first is the zero value.
  static let texts: [(type: String, texts: [String], json: [String])] = [
    ("int32", ["0", "-5", "2147483647"], ["0", "-5", "2147483647"]),
    (
      "int64", ["0", "-9223372036854775808", "9007199254740993"],
      [#""0""#, #""-9223372036854775808""#, #""9007199254740993""#]
    ),
    ("uint32", ["0", "1", "4294967295"], ["0", "1", "4294967295"]),
    ("uint64", ["0", "1", "18446744073709551615"], [#""0""#, #""1""#, #""18446744073709551615""#]),
    ("sint32", ["0", "-1", "2147483647"], ["0", "-1", "2147483647"]),
    ("sint64", ["0", "-1", "9223372036854775807"], [#""0""#, #""-1""#, #""9223372036854775807""#]),
    ("fixed32", ["0", "1", "4294967295"], ["0", "1", "4294967295"]),
    ("fixed64", ["0", "1", "18446744073709551615"], [#""0""#, #""1""#, #""18446744073709551615""#]),
    ("sfixed32", ["0", "-1", "2147483647"], ["0", "-1", "2147483647"]),
    ("sfixed64", ["0", "-1", "9223372036854775807"], [#""0""#, #""-1""#, #""9223372036854775807""#]),
    ("double", ["0", "-1.5", "Infinity"], ["0", "-1.5", #""Infinity""#]),
    ("float", ["0", "0.1", "NaN"], ["0", "0.1", #""NaN""#]),
    ("bool", ["false", "true", "true"], ["false", "true", "true"]),
    ("string", ["", "a%20b%2C%26%3D%2B", "null"], [#""""#, #""a b,&=+""#, #""null""#]),
    ("bytes", ["", "__8", "AA"], [#""""#, #""//8=""#, #""AA==""#]),
    ("p.Size", ["SIZE_UNSPECIFIED", "SIZE_L", "9"], [#""SIZE_UNSPECIFIED""#, #""SIZE_L""#, "9"]),
    (
      "google.protobuf.Timestamp",
      ["1970-01-01T00%3A00%3A00Z", "2026-01-01T00%3A00%3A00.500Z", "0001-01-01T00%3A00%3A00Z"],
      [#""1970-01-01T00:00:00Z""#, #""2026-01-01T00:00:00.500Z""#, #""0001-01-01T00:00:00Z""#]
    ),
    ("google.protobuf.Duration", ["0s", "-1.500s", "315576000000s"], [#""0s""#, #""-1.500s""#, #""315576000000s""#]),
    ("google.protobuf.FieldMask", ["", "a", "a%2CbC.d"], [#""""#, #""a""#, #""a,bC.d""#]),
    ("google.protobuf.DoubleValue", ["0", "-1.5", "NaN"], ["0", "-1.5", #""NaN""#]),
    ("google.protobuf.FloatValue", ["0", "0.1", "Infinity"], ["0", "0.1", #""Infinity""#]),
    ("google.protobuf.Int64Value", ["0", "-1", "9007199254740993"], [#""0""#, #""-1""#, #""9007199254740993""#]),
    (
      "google.protobuf.UInt64Value", ["0", "1", "18446744073709551615"], [#""0""#, #""1""#, #""18446744073709551615""#]
    ),
    ("google.protobuf.Int32Value", ["0", "-1", "5"], ["0", "-1", "5"]),
    ("google.protobuf.UInt32Value", ["0", "1", "4294967295"], ["0", "1", "4294967295"]),
    ("google.protobuf.BoolValue", ["false", "true", "false"], ["false", "true", "false"]),
    ("google.protobuf.StringValue", ["", "x%2Fy", "null"], [#""""#, #""x/y""#, #""null""#]),
    ("google.protobuf.BytesValue", ["", "__8", "AA"], [#""""#, #""//8=""#, #""AA==""#]),
  ]

  @Test(
    "as query parameters: singular, repeated, nested, in a oneof, under an odd name; defaults that are given",
    arguments: texts)
  func queries(type: String, texts: [String], json: [String]) throws {
    let optional = type.contains(".") && type != "p.Size" ? "" : " optional"
    let message =
      "p.Q: 1 one_of_it \(type)\(optional), 2 many \(type) repeated, 3 in p.Q, 4 odd \(type) json=a.b[c]\(optional), "
      + "5 pick \(type) oneof=o, 6 other string oneof=o"
    let fixture = try Fixture("p.Q", "p.Q", HTTPRule(method: "GET", path: "/v1/q"), more: message)
    for index in texts.indices {
      let (text, value) = (texts[index], json[index])
      let query =
        "oneOfIt=\(text)&many=\(texts[0])&many=\(text)&many=\(texts[1])&in.oneOfIt=\(text)&in.a.b%5Bc%5D=\(text)"
        + "&a.b%5Bc%5D=\(text)&pick=\(text)"
      let expected =
        "{\"oneOfIt\":\(value),\"many\":[\(json[0]),\(value),\(json[1])],\"in\":{\"oneOfIt\":\(value),"
        + "\"a.b[c]\":\(value)},\"a.b[c]\":\(value),\"pick\":\(value)}"
      #expect(try fixture.receive("/v1/q?\(query)") == expected)
      #expect(try fixture.send(expected) == "/v1/q?\(query)")
      // Proto names, and one occurrence of a repeated field.
      #expect(
        try fixture.receive("/v1/q?one_of_it=\(text)&many=\(text)&odd=\(text)")
          == "{\"oneOfIt\":\(value),\"many\":[\(value)],\"a.b[c]\":\(value)}")
      #expect(try fixture.receive("/v1/q?pick=\(text)&other=x").hasPrefix("400 invalid_argument other: cannot be set"))
      #expect(try fixture.receive("/v1/q?in.oneOfIt=\(text)&in.oneOfIt=\(text)").contains("given twice"))
    }
    for wrong in ["%FF", "%zz"] { #expect(try fixture.receive("/v1/q?many=\(wrong)").hasPrefix("400"), "\(wrong)") }
  }

  @Test("as path variables", arguments: texts)
  func paths(type: String, texts: [String], json: [String]) throws {
    let fixture = try Fixture(
      "p.Q", "p.Q", HTTPRule(method: "GET", path: "/v1/{in.one}/{one}"), more: "p.Q: 1 one \(type), 2 in p.Q")
    for index in texts.indices where !texts[index].isEmpty && index > 0 {
      let expected = "{\"one\":\(json[index]),\"in\":{\"one\":\(json[index])}}"
      guard json[index] != "false" || type.hasSuffix("Value") else { continue }
      #expect(try fixture.receive("/v1/\(texts[index])/\(texts[index])") == expected)
      #expect(try fixture.send(expected) == "/v1/\(texts[index])/\(texts[index])")
    }
  }
}
