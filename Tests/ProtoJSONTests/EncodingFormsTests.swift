import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// The ways in which the writer looks at bytes in whole blocks, or expects what mostly comes: what is otherwise has to be
/// written the same.
@Suite struct EncodingFormsTests {
  private let bench = Bench.standard

  /// A JSON string, byte by byte.
  private func quoted(_ bytes: [UInt8]) -> String {
    var text = "\""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\u{1F}": text += "\\u001f"
      case "\0": text += "\\u0000"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  @Test("strings of each length, with what is special at each place, as members, elements, keys and values")
  func strings() throws {
    let specials: [[UInt8]] = [[0x22], [0x5C], [0x0A], [0x1F], [0], [0x7F], [0xC3, 0xA4], [0xE2, 0x98, 0x85]]
    for length in 0..<36 {
      for special in specials {
        for place in stride(from: 0, through: length, by: length < 20 ? 1 : 5) {
          var text = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
          text.insert(contentsOf: special, at: place)
          let json = quoted(text)
          #expect(try bench.encode(Wire.delimited(1, text), "t.Parcel") == "{\"id\":\(json)}")
          #expect(try bench.encode(Wire.delimited(5, text), "t.Parcel") == "{\"tags\":[\(json)]}")
          let entry = Wire.delimited(6, Wire.delimited(1, text) + Wire.delimited(2, text))
          #expect(try bench.encode(entry, "t.Parcel") == "{\"labels\":{\(json):\(json)}}")
        }
      }
    }
  }

  @Test("bytes that are not UTF-8 are found at each place, in members, elements, keys and values")
  func malformed() throws {
    for length in 0..<36 {
      for place in 0...length {
        for bad: [UInt8] in [[0xFF], [0xC3], [0xE2, 0x98], [0xED, 0xA0, 0x80]] {
          var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          text.insert(contentsOf: bad, at: place)
          let entries = [
            Wire.delimited(1, text), Wire.delimited(5, text), Wire.delimited(6, Wire.delimited(1, text)),
            Wire.delimited(6, Wire.delimited(1, []) + Wire.delimited(2, text)),
          ]
          for wire in entries {
            let error = try bench.encodingError(wire, "t.Parcel")
            #expect(error.kind == .utf8)
            #expect(error.offset == wire.count - text.count + place)
          }
        }
      }
    }
    let error = try bench.encodingError(
      Wire.delimited(6, Wire.text(1, "k") + Wire.delimited(2, [0xFF])), "t.Parcel")
    #expect(error.path == "labels.k")
  }

  @Test("an entry in any form is written as one that has its key and its value")
  func entries() throws {
    let key = Wire.text(1, "k")
    let value = Wire.text(2, "v")
    let forms = [
      key + value, value + key, key + value + Wire.varint(3, 1), Wire.varint(3, 1) + key + value,
      key + Wire.varint(9, 1) + value, Wire.text(1, "j") + key + value, key + Wire.text(2, "u") + value,
      [0x8A, 0x00, 0x01, 0x6B] + value,
    ]
    for form in forms {
      #expect(try bench.encode(Wire.delimited(6, form), "t.Parcel") == "{\"labels\":{\"k\":\"v\"}}", "\(form)")
      // The same key again, in this form and in the plain one: the last counts.
      let again = Wire.delimited(6, key + Wire.text(2, "w"))
      #expect(try bench.encode(Wire.delimited(6, form) + again, "t.Parcel") == "{\"labels\":{\"k\":\"w\"}}")
      #expect(try bench.encode(again + Wire.delimited(6, form), "t.Parcel") == "{\"labels\":{\"k\":\"v\"}}")
    }
    #expect(try bench.encode(Wire.delimited(6, key), "t.Parcel") == "{\"labels\":{\"k\":\"\"}}")
    #expect(try bench.encode(Wire.delimited(6, value), "t.Parcel") == "{\"labels\":{\"\":\"v\"}}")
    #expect(try bench.encode(Wire.delimited(6, []), "t.Parcel") == "{\"labels\":{\"\":\"\"}}")
    #expect(
      try bench.encode(Wire.delimited(6, []) + Wire.delimited(6, Wire.text(1, "") + value), "t.Parcel")
        == "{\"labels\":{\"\":\"v\"}}")
    for cut in 1..<(key + value).count - 1 where cut != key.count {
      let error = try bench.encodingError(Wire.delimited(6, Array((key + value).prefix(cut))), "t.Parcel")
      #expect(error.kind == .wire, "\(cut)")
    }
  }

  @Test("values of all kinds under a text, and after what the map's number has with another type")
  func values() throws {
    let point = Wire.delimited(61, Wire.text(1, "p") + Wire.delimited(2, Wire.fixed64(1, 0x3FF0_0000_0000_0000)))
    #expect(try bench.encode(point, "t.Maps") == "{\"vPoint\":{\"p\":{\"lat\":1}}}")
    let size = Wire.delimited(60, Wire.text(1, "s") + Wire.varint(2, 1))
    #expect(try bench.encode(size + size, "t.Maps") == "{\"vSize\":{\"s\":\"SIZE_S\"}}")
    let other = Wire.delimited(60, Wire.text(1, "t") + Wire.varint(2, 2))
    #expect(
      try bench.encode(size + Wire.varint(60, 7) + other, "t.Maps") == "{\"vSize\":{\"s\":\"SIZE_S\",\"t\":\"SIZE_L\"}}"
    )
    // A type that the value has not is an unknown field of the entry.
    let wrong = Wire.delimited(60, Wire.text(1, "w") + Wire.text(2, "x"))
    #expect(try bench.encode(wrong, "t.Maps") == "{\"vSize\":{\"w\":\"SIZE_UNSPECIFIED\"}}")
    let cut = Wire.delimited(61, Wire.text(1, "p") + Wire.delimited(2, [0x09, 0]))
    let error = try bench.encodingError(cut, "t.Maps")
    #expect(error.path == "vPoint.p.lat")
  }

  @Test("fields in any order, with tags of one, two and three bytes, and longer than they need to be")
  func tags() throws {
    let numbers = [0, 1, 2, 3, 17, 18, 19, 291, 292, 293, 299]
    var members: [(wire: [UInt8], json: String)] = []
    for number in numbers {
      let wire = Wire.varint(UInt32(number * 7 + 1), UInt64(number + 1))
      members.append((wire, "\"fieldNumber\(number)OfMany\":\(number + 1)"))
    }
    let all = members.flatMap(\.wire)
    #expect(try bench.encode(all, "t.Wide") == "{\(members.map(\.json).joined(separator: ","))}")
    #expect(
      try bench.encode(members.reversed().flatMap(\.wire), "t.Wide")
        == "{\(members.reversed().map(\.json).joined(separator: ","))}")
    for (wire, json) in members { #expect(try bench.encode(wire, "t.Wide") == "{\(json)}") }
    // Unknown fields between do not matter.
    let spread = members.flatMap { Wire.text(5, "?") + $0.wire }
    #expect(try bench.encode(spread, "t.Wide") == "{\(members.map(\.json).joined(separator: ","))}")
    #expect(try bench.encode([0x8A, 0x00, 0x01, 0x61], "t.Parcel") == "{\"id\":\"a\"}")
    #expect(try bench.encodingError([0x0A], "t.Parcel").kind == .wire)
    #expect(try bench.encodingError([0x00, 0x01], "t.Parcel").kind == .wire)
    #expect(try bench.encodingError([0x07, 0x01], "t.Parcel").kind == .wire)
  }

  @Test("booleans and long names")
  func words() throws {
    #expect(
      try bench.encode(Wire.delimited(8, [0, 1, 1, 0]), "t.Lists") == "{\"fBool\":[false,true,true,false]}")
    #expect(try bench.encode(Wire.varint(8, 0), "t.Optionals") == "{\"fBool\":false}")
    for name in [
      "a", "name16", "nameOfSeventeen17", String(repeating: "n", count: 28), String(repeating: "n", count: 40),
    ] {
      var builder = FixtureBuilder()
      builder.message("t.Named", [FixtureField("text", 1, .string, jsonName: name)])
      let bench = Bench(codec: JSONCodec(schema: builder.build(), profile: .standard))
      #expect(try bench.encode(Wire.text(1, "a \" b"), "t.Named") == "{\"\(name)\":\"a \\\" b\"}")
      #expect(try bench.encode(Wire.text(1, "v"), "t.Named") == "{\"\(name)\":\"v\"}")
    }
  }
}
