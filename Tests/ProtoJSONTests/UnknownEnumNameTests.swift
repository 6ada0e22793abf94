import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// Enum names that the schema does not have, where unknown names are ignored: the field is as if it were not there, as it
/// is in libprotobuf with `ignore_unknown_fields`, whatever else is looked at while it is read.
@Suite struct UnknownEnumNameTests {
  private let bench = Bench(JSONProfile(unknownFields: .ignore))

  private func bound(_ field: String, _ text: String) throws -> [BoundField] {
    let name = try bench.field("t.Form", field)
    return [BoundField(fieldPath: [name], wire: Wire.text(2, text))]
  }

  private func missing(_ json: String, bound: [BoundField] = [], collectsMask: Bool = false) throws -> String? {
    var outcome = DecodingOutcome(collectsMask: collectsMask)
    do {
      _ = try bench.decode(Array(json.utf8), "t.Form", bound: bound, outcome: &outcome)
      return nil
    } catch let error as JSONError {
      #expect(error.kind == .missing)
      return error.path
    }
  }

  @Test("they do not set a required field: plainly, beside a bound value, and while a mask is gathered")
  func required() throws {
    let name = try bound("name", "n")
    for json in ["{\"state\":\"CLOSED_NEW\"}", "{}", "{\"state\":null}"] {
      #expect(try missing(json) == "state", "\(json)")
      #expect(try missing(json, bound: name) == "state", "\(json)")
      #expect(try missing(json, collectsMask: true) == "state", "\(json)")
    }
    for json in ["{\"state\":\"CLOSED_A\"}", "{\"state\":5}"] {
      #expect(try missing(json) == nil, "\(json)")
      #expect(try missing(json, bound: name) == nil, "\(json)")
      #expect(try missing(json, collectsMask: true) == nil, "\(json)")
    }
  }

  @Test("they are in no mask, which would clear the field")
  func masks() throws {
    var outcome = DecodingOutcome(collectsMask: true)
    let json = "{\"state\":\"CLOSED_A\",\"size\":\"SIZE_NEW\",\"name\":\"n\"}"
    _ = try bench.decode(Array(json.utf8), "t.Form", outcome: &outcome)
    #expect(outcome.maskPaths == ["state", "name"])
    #expect(outcome.unknownFields == ["size"])
    var list = DecodingOutcome(collectsMask: true)
    _ = try bench.decode(Array("{\"sizes\":[\"SIZE_NEW\",\"SIZE_S\"]}".utf8), "t.Parcel", outcome: &list)
    #expect(list.maskPaths == ["sizes"])
  }

  @Test("of a oneof they are a member like any other, as in the runtimes of Go, JavaScript, Python and C++")
  func oneofs() throws {
    for json in [
      "{\"state\":\"CLOSED_A\",\"stamp\":\"SIZE_NEW\",\"seal\":\"s\"}",
      "{\"state\":\"CLOSED_A\",\"seal\":\"s\",\"stamp\":\"SIZE_NEW\"}",
    ] {
      let error = try #require(throws: JSONError.self) { try bench.decode(json, "t.Form") }
      #expect(error.kind == .conflict, "\(json)")
    }
    let alone = try bench.decode("{\"state\":\"CLOSED_A\",\"stamp\":\"SIZE_NEW\"}", "t.Form")
    #expect(alone == (try bench.decode("{\"state\":\"CLOSED_A\"}", "t.Form")))
  }
}
