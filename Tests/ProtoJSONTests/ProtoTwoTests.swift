import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// What proto2 and editions have that proto3 lacks.
@Suite struct ProtoTwoTests {
  private typealias Messages = ConformanceMessages

  // MARK: Required fields

  @Test func aMissingRequiredFieldIsNamedByItsPath() throws {
    let bench = try Messages.bench()
    let error = try bench.refusal("{}", Messages.required)
    #expect(error.kind == .missing)
    #expect(error.path == "requiredInt32")
    #expect(error.offset == 0)
    #expect(error.message == "requiredInt32: a value expected: the field is required (at byte 0)")
    #expect(try bench.encodingError([], Messages.required).path == "requiredInt32")
    #expect(bench.normalizingError([], Messages.required).path == "requiredInt32")
  }

  /// TestAllRequiredTypesProto2 in TestAllRequiredTypesProto2, both with their first field only.
  @Test func aMissingRequiredFieldIsFoundAtEachLevel() throws {
    let bench = try Messages.bench()
    let error = try bench.refusal("{\"requiredInt32\":1,\"recursiveMessage\":{\"requiredInt32\":2}}", Messages.required)
    #expect(error.kind == .missing)
    #expect(error.path == "recursiveMessage.requiredInt64")
    #expect(error.offset == 38)
    let null = try bench.refusal("{\"requiredInt32\":null}", Messages.required)
    #expect(null.kind == .missing)
    #expect(null.path == "requiredInt32")
    let wire = Wire.varint(1, 1) + Wire.delimited(27, Wire.varint(1, 2))
    for error in [try bench.encodingError(wire, Messages.required), bench.normalizingError(wire, Messages.required)] {
      #expect(error.kind == .missing)
      #expect(error.path == "recursiveMessage.requiredInt64")
      #expect(error.offset == 5)
    }
  }

  @Test func aRequiredFieldThatTheRequestBindsIsNotMissing() throws {
    let bench = try Messages.bench()
    let field = try bench.field(Messages.required, "required_int32")
    var outcome = DecodingOutcome()
    let bound = [BoundField(fieldPath: [field], wire: Wire.varint(1, 7))]
    do {
      _ = try bench.decode(Array("{}".utf8), Messages.required, bound: bound, outcome: &outcome)
      Issue.record("accepted without the other required fields")
    } catch let error as JSONError {
      #expect(error.path == "requiredInt64")
    }
  }

  /// In bytes from outside they may come in another part of a message, or with the request.
  @Test func checkedBytesNeedTheirRequiredFields() throws {
    let bench = try Messages.bench()
    let type = "\(Messages.required).MessageSetCorrectExtension1"
    let index = try bench.index(type)
    func check(_ wire: [UInt8], bound: [BoundField] = []) throws -> [UInt8] {
      var outcome = DecodingOutcome()
      var output = ByteBuffer()
      try bench.codec.check(wire.span, message: index, bound: bound, outcome: &outcome, into: &output)
      return output.bytes
    }
    let whole = Wire.text(25, "a")
    #expect(try check(whole) == whole)
    do {
      _ = try check(Wire.varint(3000, 1))
      Issue.record("accepted")
    } catch let error as JSONError {
      #expect(error.kind == .missing)
      #expect(error.path == "str")
    }
    #expect(try check([], bound: [BoundField(fieldPath: [0], wire: whole)]) == whole)
    #expect(try bench.decode("{\"str\":\"a\"}", type) == whole)
    var outcome = DecodingOutcome()
    let bound = [BoundField(fieldPath: [0], wire: whole)]
    #expect(try bench.decode(Array("{}".utf8), type, bound: bound, outcome: &outcome) == whole)
  }

  // MARK: Defaults

  /// An unset field that is written alone (`response_body`) reads as it is declared.
  @Test func unsetFieldsAloneHaveTheirDeclaredDefault() throws {
    let bench = try Messages.bench()
    let expected = [
      "default_int32": "-123456789", "default_int64": "\"-9123456789123456789\"", "default_uint32": "2123456789",
      "default_uint64": "\"10123456789123456789\"", "default_sint32": "-123456789",
      "default_sint64": "\"-9123456789123456789\"", "default_fixed32": "2123456789",
      "default_fixed64": "\"10123456789123456789\"", "default_sfixed32": "-123456789",
      "default_sfixed64": "\"-9123456789123456789\"", "default_float": "9e+09", "default_bool": "true",
      "default_string": "\"Rosebud\"", "default_bytes": "\"am9zaHVh\"", "optional_int32": "0",
      "optional_string": "\"\"", "optional_nested_enum": "\"FOO\"", "optional_nested_message": "{}",
      "repeated_int32": "[]",
    ]
    let nothing: [UInt8] = []
    for (name, json) in expected {
      var output = ByteBuffer()
      try bench.codec.encodeField(
        nothing.span, message: try bench.index(Messages.proto2), field: try bench.field(Messages.proto2, name),
        into: &output)
      #expect(String(decoding: output.bytes, as: UTF8.self) == json, "\(name)")
    }
  }

  // MARK: Closed enums

  /// A number that the enum lacks is an unknown field: kept on the wire, absent in JSON, and no value of a oneof.
  @Test func unnamedNumbersOfClosedEnumsAreUnknownFields() throws {
    let bench = try Messages.bench()
    let rows: [(wire: [UInt8], normal: [UInt8], json: String)] = [
      (Wire.varint(21, 123), Wire.varint(21, 123), "{}"),
      (
        Wire.varint(21, 1) + Wire.varint(21, 123), Wire.varint(21, 1) + Wire.varint(21, 123),
        "{\"optionalNestedEnum\":\"BAR\"}"
      ),
      (
        Wire.varint(51, 1) + Wire.varint(51, 123) + Wire.varint(51, 2),
        Wire.varint(51, 1) + Wire.varint(51, 2) + Wire.varint(51, 123), "{\"repeatedNestedEnum\":[\"BAR\",\"BAZ\"]}"
      ),
      (Wire.varint(51, 123), Wire.varint(51, 123), "{}"),
      (
        Wire.delimited(88, [1, 123, 2]), Wire.delimited(88, [1, 2]) + Wire.varint(88, 123),
        "{\"packedNestedEnum\":[\"BAR\",\"BAZ\"]}"
      ),
      (
        Wire.delimited(73, Wire.text(1, "a") + Wire.varint(2, 123)),
        Wire.delimited(73, Wire.text(1, "a") + Wire.varint(2, 123)), "{}"
      ),
      (
        Wire.delimited(73, Wire.text(1, "a") + Wire.varint(2, 1))
          + Wire.delimited(73, Wire.text(1, "a") + Wire.varint(2, 123)),
        Wire.delimited(73, Wire.text(1, "a") + Wire.varint(2, 1))
          + Wire.delimited(73, Wire.text(1, "a") + Wire.varint(2, 123)),
        "{\"mapStringNestedEnum\":{\"a\":\"BAR\"}}"
      ),
      (Wire.varint(111, 5) + Wire.varint(119, 123), Wire.varint(111, 5) + Wire.varint(119, 123), "{\"oneofUint32\":5}"),
    ]
    for row in rows {
      #expect(try bench.normalize(row.wire, Messages.proto2) == row.normal, "\(row.wire)")
      #expect(try bench.encode(row.wire, Messages.proto2) == row.json, "\(row.wire)")
      #expect(try bench.encode(row.normal, Messages.proto2) == row.json, "\(row.normal)")
    }
    let error = try bench.refusal("{\"optionalNestedEnum\":123}", Messages.proto2)
    #expect(error.kind == .range)
    #expect(error.path == "optionalNestedEnum")
  }

  // MARK: Strings

  @Test func stringsOfProtoTwoNeedNotBeUTF8OnTheWire() throws {
    let bench = try Messages.bench()
    let wire = Wire.delimited(14, [0x61, 0xFF])
    #expect(try bench.normalize(wire, Messages.proto2) == wire)
    // JSON has no form for it.
    let error = try bench.encodingError(wire, Messages.proto2)
    #expect(error.kind == .utf8)
    #expect(error.path == "optionalString")
    #expect(error.offset == 3)
    for type in [Messages.proto3, Messages.edition2023] {
      let error = bench.normalizingError(wire, type)
      #expect(error.kind == .utf8)
      #expect(error.path == "optionalString")
      #expect(error.offset == 3)
    }
  }

  // MARK: Message sets

  private static let item = Wire.delimited(
    500, [0x0B, 0x10, 0x90, 0xB3, 0xFC, 0x01, 0x1A, 0x02, 0x48, 0x63, 0x0C])
  private static let extensionName =
    "[protobuf_test_messages.proto2.TestAllTypesProto2.MessageSetCorrectExtension2.message_set_extension]"

  @Test func messageSetsAreReadAndWritten() throws {
    let bench = try Messages.bench()
    let json = "{\"messageSetCorrect\":{\"\(Self.extensionName)\":{\"i\":99}}}"
    #expect(try bench.encode(Self.item, Messages.proto2) == json)
    #expect(try bench.decode(json, Messages.proto2) == Self.item)
    #expect(try bench.normalize(Self.item, Messages.proto2) == Self.item)
  }

  /// The type behind the message, a plain extension, and a message in two items.
  @Test func messagesOfASetAreNoTexts() throws {
    let bench = try Messages.bench()
    let set = try bench.index("\(Messages.proto2).MessageSetCorrect")
    let fields = bench.codec.schema.messages[set].fields
    #expect(!fields.isEmpty)
    let payload = [UInt8](repeating: 0, count: 8)
    for field in fields.indices {
      #expect(!bench.codec.isTextual(message: set, field: field))
      var text = ByteBuffer()
      let error = #expect(throws: JSONError.self) {
        try bench.codec.encodeText(payload.span, message: set, field: field, into: &text)
      }
      #expect(error?.kind == .type)
    }
  }

  @Test func messageSetsHaveOtherSpellings() throws {
    let bench = try Messages.bench()
    let variants = [
      Wire.delimited(500, [0x0B, 0x1A, 0x02, 0x48, 0x63, 0x10, 0x90, 0xB3, 0xFC, 0x01, 0x0C]),
      Wire.delimited(500, Wire.delimited(4_135_312, [0x48, 0x63])),
      Wire.delimited(500, Wire.delimited(4_135_312, [0x48, 0x05]) + Wire.delimited(4_135_312, [0x48, 0x63])),
    ]
    for wire in variants {
      #expect(try bench.normalize(wire, Messages.proto2) == Self.item, "\(wire)")
      #expect(
        try bench.encode(wire, Messages.proto2) == "{\"messageSetCorrect\":{\"\(Self.extensionName)\":{\"i\":99}}}")
    }
  }

  @Test func unknownMessagesOfSetsAreKept() throws {
    let bench = try Messages.bench()
    // The message is no protobuf at all.
    let wire = Wire.delimited(500, [0x0B, 0x10, 0x07, 0x1A, 0x02, 0x00, 0x63, 0x0C])
    #expect(try bench.normalize(wire, Messages.proto2) == wire)
    #expect(try bench.encode(wire, Messages.proto2) == "{\"messageSetCorrect\":{}}")
    #expect(
      try bench.normalize(wire, Messages.proto2, unknownFields: .drop) == Wire.delimited(500, []))
  }
}
