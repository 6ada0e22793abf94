import ProtoJSON
import Testing
import TranslationTestSupport

@testable import Migration

/// Answers that are written differently and mean the same.
@Suite struct EqualAnswersTests {
  @Test(arguments: [
    // Integers as text or number, whole numbers with a fraction or an exponent.
    ("rich.Scalars", #"{"i64":"5","u64":7,"i32":1.0}"#, #"{"i64":5,"u64":"7","i32":1e0}"#),
    // Names of the schema and of JSON.
    ("rich.Scalars", #"{"odd_name__of_3_words_":"x","maybe_text":""}"#, #"{"oddNameOf3Words":"x","maybeText":""}"#),
    // Defaults without presence, nulls, empty lists and maps.
    ("rich.Scalars", #"{"d":0,"s":"","b":false,"size":"SIZE_UNSPECIFIED","raw":"","maybe":null}"#, "{}"),
    ("rich.Scalars", #"{"d":-0.0,"f":-0.0}"#, "{}"),
    ("rich.Lists", #"{"d":[],"s":null}"#, "{}"),
    ("rich.Maps", #"{"texts":{},"nodes":null}"#, "{}"),
    // Enums by name, by another name, by number.
    ("rich.Scalars", #"{"size":"SIZE_L"}"#, #"{"size":2}"#),
    ("rich.Scalars", #"{"size":"SIZE_L"}"#, #"{"size":"SIZE_LARGE"}"#),
    ("rich.Old", #"{"closed":"CLOSED_MINUS"}"#, #"{"closed":-2}"#),
    // Floats.
    ("rich.Scalars", #"{"d":"NaN","f":"Infinity"}"#, #"{"f":"Infinity","d":"NaN"}"#),
    ("rich.Scalars", #"{"f":0.1}"#, #"{"f":0.10000000149011612}"#),
    ("rich.Lists", #"{"d":["NaN",-0.0,1]}"#, #"{"d":["NaN",0,1.0]}"#),
    // The order of members and of maps.
    ("rich.Scalars", #"{"s":"x","i32":1,"b":true}"#, #"{"b":true,"i32":1,"s":"x"}"#),
    ("rich.Maps", #"{"texts":{"a":"1","b":"2","c":""}}"#, #"{"texts":{"c":"","b":"2","a":"1"}}"#),
    ("rich.Maps", #"{"numbers":{"1":"2","-3":4}}"#, #"{"numbers":{"-3":"4","1":2}}"#),
    (
      "rich.Maps", #"{"nodes":{"1":{"name":"a","text":"t"},"2":{}}}"#,
      #"{"nodes":{"2":{},"1":{"text":"t","name":"a"}}}"#
    ),
    ("rich.Maps", #"{"doubles":{"1":"NaN","2":-0.0}}"#, #"{"doubles":{"2":0,"1":"NaN"}}"#),
    // Bytes in any base64.
    ("rich.Scalars", #"{"raw":"+/8="}"#, #"{"raw":"-_8"}"#),
    // Well-known types.
    ("rich.Known", #"{"time":"2026-01-01T00:00:00.000Z"}"#, #"{"time":"2026-01-01T01:00:00+01:00"}"#),
    ("rich.Known", #"{"span":"1.500s"}"#, #"{"span":"1.5s"}"#),
    ("rich.Known", #"{"mask":"a,fooBar"}"#, #"{"mask":"fooBar,a"}"#),
    (
      "rich.Known", #"{"object":{"a":1,"b":[null,{"c":"x","d":true}]}}"#,
      #"{"object":{"b":[null,{"d":true,"c":"x"}],"a":1.0}}"#
    ),
    (
      "rich.Known", #"{"int64Value":"5","doubleValue":0,"stringValue":""}"#,
      #"{"stringValue":"","doubleValue":-0.0,"int64Value":5}"#
    ),
    (
      "rich.Known", #"{"any":{"@type":"type.googleapis.com/rich.Scalars","s":"x","i32":1}}"#,
      #"{"any":{"i32":1.0,"s":"x","@type":"/rich.Scalars"}}"#
    ),
    (
      "rich.Known", #"{"any":{"@type":"t/google.protobuf.Duration","value":"1.0s"}}"#,
      #"{"any":{"value":"1s","@type":"t/google.protobuf.Duration"}}"#
    ),
    // Oneofs, groups, extensions.
    ("rich.Node", #"{"name":"n","number":0}"#, #"{"number":0.0,"name":"n"}"#),
    (
      "rich.Old", #"{"result":{"url":"u","part":[{"number":1}]},"left":{"weight":1}}"#,
      #"{"left":{"weight":1.0},"result":{"part":[{"number":1e0}],"url":"u"}}"#
    ),
    (
      "rich.Old", #"{"[rich.priority]":1,"[rich.labels]":["a"],"[rich.Scope.numbers]":[1,2]}"#,
      #"{"[rich.Scope.numbers]":[1,2.0],"[rich.labels]":["a"],"[rich.priority]":"1"}"#
    ),
  ])
  func meanTheSame(_ message: String, _ rest: String, _ rpc: String) throws {
    let rig = try ComparisonRig()
    #expect(try rig.differences(message, rest, rpc) == [])
    #expect(try rig.differences(message, rpc, rest) == [])
  }

  /// What an old API writes, read by its profile, and plain ProtoJSON.
  @Test(arguments: [
    (
      #"{"time":1767225600,"span":"1s"}"#, #"{"time":"2026-01-01T00:00:00Z","span":"1s"}"#,
      JSONProfile(timestamps: .unix)
    ),
    (
      #"{"time":1767225600500}"#, #"{"time":"2026-01-01T00:00:00.5Z"}"#, JSONProfile(timestamps: .unixMilliseconds)
    ),
  ])
  func timesOfOldAPIs(_ rest: String, _ rpc: String, _ profile: JSONProfile) throws {
    let rig = try ComparisonRig()
    let old = try rig.wire(rest, "rich.Known", profile)
    #expect(try rig.compare("rich.Known", rest: old, rpc: rig.wire(rpc, "rich.Known")).differences == [])
  }

  @Test func enumsOfOldAPIs() throws {
    let rig = try ComparisonRig()
    let old = try rig.wire(#"{"size":"xl"}"#, "rich.Scalars", JSONProfile(stripEnumPrefix: true, lowerCaseEnums: true))
    let new = try rig.wire(#"{"size":"SIZE_XL"}"#, "rich.Scalars")
    #expect(try rig.compare("rich.Scalars", rest: old, rpc: new).differences == [])
  }

  /// Forms of wire bytes that every parser reads the same.
  @Test func wireForms() throws {
    let rig = try ComparisonRig()
    func same(_ message: String, _ left: [UInt8], _ right: [UInt8]) throws {
      #expect(try rig.compare(message, rest: left, rpc: right).differences == [], "\(message) \(left) \(right)")
    }
    // Packed and not.
    try same("rich.Lists", Wire.delimited(3, [1, 2, 3]), Wire.varint(3, 1) + Wire.varint(3, 2) + Wire.varint(3, 3))
    try same("rich.Lists", Wire.delimited(3, [1, 2, 3]), Wire.delimited(3, [1]) + Wire.delimited(3, [2, 3]))
    try same("rich.Lists", Wire.delimited(4, [1, 2]), Wire.varint(4, 1) + Wire.varint(4, 2))
    // Varints of too many bytes; the last of several values; a negative number in five bytes.
    try same("rich.Scalars", [0x18, 0x85, 0x80, 0x00], [0x18, 5])
    try same("rich.Scalars", Wire.varint(3, 1) + Wire.varint(3, 5), Wire.varint(3, 5))
    try same("rich.Scalars", Wire.varint(5, 0xFFFF_FFFF), Wire.varint(5, UInt64(bitPattern: -1)))
    // A message in two parts, and the last member of a oneof.
    let child = Wire.delimited(2, Wire.text(1, "a")) + Wire.delimited(2, Wire.text(4, "b"))
    try same("rich.Node", child, Wire.delimited(2, Wire.text(4, "b") + Wire.text(1, "a")))
    try same("rich.Node", Wire.text(4, "a") + Wire.varint(5, 2), Wire.varint(5, 2))
    // A map's key twice, and entries without a key or a value.
    try same(
      "rich.Maps", Wire.delimited(1, Wire.text(1, "k") + Wire.text(2, "1")) + Wire.delimited(1, Wire.text(1, "k")),
      Wire.delimited(1, Wire.text(2, "") + Wire.text(1, "k")))
  }
}
