import Testing

/// The testee over its pipe, so that it cannot rot between two runs of the official runner.
@Suite struct TesteeTests {
  private static let proto3 = "protobuf_test_messages.proto3.TestAllTypesProto3"
  private static let proto2 = "protobuf_test_messages.proto2.TestAllTypesProto2"
  private static let edition = "protobuf_test_messages.editions.TestAllTypesEdition2023"

  struct Case: Sendable, CustomTestStringConvertible {
    var type: String
    var wire: [UInt8]
    /// The bytes again; nil when they are refused.
    var normal: [UInt8]?
    /// nil when they have no JSON.
    var json: String?
    var testDescription: String { "\(type.split(separator: ".").last ?? "") \(wire)" }

    init(_ type: String, _ wire: [UInt8], _ normal: [UInt8]?, _ json: String?) {
      self.type = type
      self.wire = wire
      self.normal = normal
      self.json = json
    }
  }

  static let cases: [Case] = [
    Case(proto3, [], [], "{}"),
    Case(proto3, [0x08, 0x07], [0x08, 0x07], "{\"optionalInt32\":7}"),
    // The default of a field without presence.
    Case(proto3, [0x08, 0x00], [], "{}"),
    Case(proto2, [0x08, 0x00], [0x08, 0x00], "{\"optionalInt32\":0}"),
    // The last scalar counts.
    Case(
      proto3, [0x08, 0x07, 0x10, 0x01, 0x08, 0x09], [0x08, 0x09, 0x10, 0x01],
      "{\"optionalInt32\":9,\"optionalInt64\":\"1\"}"),
    // Longer than it has to be.
    Case(proto3, [0x08, 0x87, 0x80, 0x00], [0x08, 0x07], "{\"optionalInt32\":7}"),
    Case(proto3, [0x68, 0x96, 0x01], [0x68, 0x01], "{\"optionalBool\":true}"),
    // Packed as proto3 declares it, and not as proto2 does.
    Case(proto3, [0xF8, 0x01, 0x01, 0xF8, 0x01, 0x02], [0xFA, 0x01, 0x02, 0x01, 0x02], "{\"repeatedInt32\":[1,2]}"),
    Case(proto2, [0xFA, 0x01, 0x02, 0x01, 0x02], [0xF8, 0x01, 0x01, 0xF8, 0x01, 0x02], "{\"repeatedInt32\":[1,2]}"),
    // A nested message in two parts.
    Case(
      proto3, [0x92, 0x01, 0x02, 0x08, 0x01, 0x08, 0x05, 0x92, 0x01, 0x02, 0x08, 0x02],
      [0x08, 0x05, 0x92, 0x01, 0x02, 0x08, 0x02], "{\"optionalInt32\":5,\"optionalNestedMessage\":{\"a\":2}}"),
    // Unknown fields stay on the wire.
    Case(proto3, [0xA8, 0x1F, 0x01], [0xA8, 0x1F, 0x01], "{}"),
    // 123 is no value of the closed enum.
    Case(proto2, [0xA8, 0x01, 0x7B], [0xA8, 0x01, 0x7B], "{}"),
    Case(proto3, [0xA8, 0x01, 0x7B], [0xA8, 0x01, 0x7B], "{\"optionalNestedEnum\":123}"),
    // A group of proto2, and a delimited message of an edition.
    Case(
      proto2, [0xCB, 0x0C, 0xD0, 0x0C, 0x63, 0xCC, 0x0C], [0xCB, 0x0C, 0xD0, 0x0C, 0x63, 0xCC, 0x0C],
      "{\"data\":{\"groupInt32\":99}}"),
    Case(
      edition, [0xD3, 0x0C, 0xD0, 0x0C, 0x63, 0xD4, 0x0C], [0xD3, 0x0C, 0xD0, 0x0C, 0x63, 0xD4, 0x0C],
      "{\"delimitedField\":{\"groupInt32\":99}}"),
    // An extension.
    Case(
      proto2, [0xC0, 0x07, 0x05], [0xC0, 0x07, 0x05],
      "{\"[protobuf_test_messages.proto2.extension_int32]\":5}"),
    // A message set, and the same in the format of plain extensions.
    Case(
      proto2, [0xA2, 0x1F, 0x0A, 0x0B, 0x10, 0x90, 0xB3, 0xFC, 0x01, 0x1A, 0x02, 0x48, 0x63, 0x0C],
      nil, nil),
    Case(
      proto2, [0xA2, 0x1F, 0x0B, 0x0B, 0x10, 0x90, 0xB3, 0xFC, 0x01, 0x1A, 0x02, 0x48, 0x63, 0x0C],
      [0xA2, 0x1F, 0x0B, 0x0B, 0x10, 0x90, 0xB3, 0xFC, 0x01, 0x1A, 0x02, 0x48, 0x63, 0x0C],
      "{\"messageSetCorrect\":{\"[protobuf_test_messages.proto2.TestAllTypesProto2.MessageSetCorrectExtension2"
        + ".message_set_extension]\":{\"i\":99}}}"),
    Case(
      proto2, [0xA2, 0x1F, 0x07, 0x82, 0x99, 0xE3, 0x0F, 0x02, 0x48, 0x63],
      [0xA2, 0x1F, 0x0B, 0x0B, 0x10, 0x90, 0xB3, 0xFC, 0x01, 0x1A, 0x02, 0x48, 0x63, 0x0C],
      "{\"messageSetCorrect\":{\"[protobuf_test_messages.proto2.TestAllTypesProto2.MessageSetCorrectExtension2"
        + ".message_set_extension]\":{\"i\":99}}}"),
    // Strings that are not UTF-8.
    Case(proto3, [0x72, 0x01, 0xFF], nil, nil),
    Case(proto2, [0x72, 0x01, 0xFF], [0x72, 0x01, 0xFF], nil),
    // Cut short, tag 0, an overlong tag, a group that does not end.
    Case(proto3, [0x08], nil, nil), Case(proto3, [0x01, 0x01], nil, nil),
    Case(proto3, [0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 0x01], nil, nil), Case(proto2, [0xCB, 0x0C], nil, nil),
    Case(proto3, [0x92, 0x01, 0x01, 0x08], nil, nil),
    // Map entries without key or value, and a key that comes twice.
    Case(proto3, [0xC2, 0x03, 0x00], [0xC2, 0x03, 0x04, 0x08, 0x00, 0x10, 0x00], "{\"mapInt32Int32\":{\"0\":0}}"),
    Case(
      proto3, [0xC2, 0x03, 0x04, 0x08, 0x01, 0x10, 0x01, 0xC2, 0x03, 0x04, 0x10, 0x02, 0x08, 0x01],
      [0xC2, 0x03, 0x04, 0x08, 0x01, 0x10, 0x02], "{\"mapInt32Int32\":{\"1\":2}}"),
    // The last member of a oneof.
    Case(proto3, [0xF8, 0x06, 0x01, 0x8A, 0x07, 0x00], [0x8A, 0x07, 0x00], "{\"oneofString\":\"\"}"),
  ]

  @Test func answersOverThePipe() throws {
    let testee = try RunningTestee()
    for row in Self.cases {
      let again = try testee.ask(.protobuf(row.wire), row.type, format: 1)
      if let normal = row.normal {
        #expect(again == .protobuf(normal), "\(row.testDescription)")
      } else if case .parseError(let text) = again {
        #expect(!text.isEmpty)
      } else {
        Issue.record("\(row.testDescription) is accepted: \(again)")
      }
      let json = try testee.ask(.protobuf(row.wire), row.type, format: 2)
      guard let expected = row.json else {
        if case .json = json { Issue.record("\(row.testDescription) is written: \(json)") }
        continue
      }
      #expect(json == .json(expected), "\(row.testDescription)")
      let back = try testee.ask(.json(expected), row.type, format: 2)
      #expect(back == .json(expected), "\(row.testDescription)")
    }
    #expect(try testee.end() == 0)
  }

  @Test func refusesJSONByItsPath() throws {
    let testee = try RunningTestee()
    let refused = [
      "{\"optionalInt32\":1.5}": "optionalInt32: ", "{\"nope\":1}": "nope: ",
      "{\"repeatedInt32\":[1,null]}": "repeatedInt32[1]: ",
      "{\"optionalInt32\":1,\"optional_int32\":1}": "optional_int32: ",
    ]
    for (json, path) in refused {
      guard case .parseError(let text) = try testee.ask(.json(json), Self.proto3, format: 1) else {
        Issue.record("\(json) is accepted")
        continue
      }
      #expect(text.hasPrefix(path), "\(text)")
    }
    let ignored = try testee.ask(
      .json("{\"nope\":[{}],\"optionalInt32\":1}"), Self.proto3, format: 1, ignoresUnknown: true)
    #expect(ignored == .protobuf([0x08, 0x01]))
    #expect(try testee.end() == 0)
  }

  @Test func saysWhatItDoesNotSpeak() throws {
    let testee = try RunningTestee()
    guard case .skipped = try testee.ask(.text("optional_int32: 1"), Self.proto3, format: 1) else {
      Issue.record("text is not skipped")
      return
    }
    guard case .skipped = try testee.ask(.protobuf([]), Self.proto3, format: 4) else {
      Issue.record("text is not skipped")
      return
    }
    guard case .runtimeError = try testee.ask(.protobuf([]), "no.Such", format: 1) else {
      Issue.record("an unknown message is answered")
      return
    }
    #expect(try testee.end() == 0)
  }
}
