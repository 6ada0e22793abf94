import Diagnostics
import ProtobufSchema
import Testing

/// A set with one fault, and the words that must name it.
struct SetFault: CustomTestStringConvertible, Sendable {
  var words: String
  var bytes: [UInt8]
  var testDescription: String { words }

  init(_ words: String, edition: Int64, _ body: (inout DescriptorBytes) -> Void) {
    self.init(words, syntax: "editions") { file in
      file.number(14, edition)
      body(&file)
    }
  }

  init(_ words: String, syntax: String = "proto3", _ body: (inout DescriptorBytes) -> Void) {
    self.words = words
    bytes = DescriptorBytes.set(syntax: syntax, body)
  }

  static let all: [SetFault] = names + types + oneofs + services + features
  /// What a later release may have, in each place that can say it.
  static let features: [SetFault] = [
    SetFault("it sets the feature field_presence with the value 9", edition: 1000) { file in
      file.nested(8) { $0.nested(50) { $0.number(1, 9) } }
    },
    SetFault("message x.M sets the feature json_format with the value 3", edition: 1001) { file in
      file.message("M") { $0.nested(7) { $0.nested(12) { $0.number(6, 3) } } }
    },
    SetFault("field x.M.a sets the feature utf8_validation with the value 1", edition: 1000) { file in
      file.message("M") { $0.field("a", 1) { $0.nested(8) { $0.nested(21) { $0.number(4, 1) } } } }
    },
    SetFault("oneof x.M.o sets the feature number 99", edition: 1000) { file in
      file.message("M") { message in
        message.field("a", 1) { $0.number(9, 0) }
        message.nested(8) {
          $0.text(1, "o"); $0.nested(2) { $0.nested(1) { $0.number(99, 1) } }
        }
      }
    },
    SetFault("enum x.E sets the feature enum_type with the value 0", edition: 1000) { file in
      file.enumeration("E", [("A", 0)]) { $0.nested(3) { $0.nested(7) { $0.number(2, 0) } } }
    },
    SetFault("extension x.e sets the feature message_encoding with the value 7", edition: 1000) { file in
      file.message("M") {
        $0.nested(5) { range in
          range.number(1, 5); range.number(2, 9)
        }
      }
      file.field("e", 5, in: 7) {
        $0.text(2, ".x.M"); $0.nested(8) { $0.nested(21) { $0.number(5, 7) } }
      }
    },
  ]
  static let names: [SetFault] = [
    SetFault("message x.M.N has a name that is no identifier") { $0.message("M.N") },
    SetFault("field x.M.1a has a name that is no identifier") { $0.message("M") { $0.field("1a", 1) } },
    SetFault("enum x. has a name") { $0.enumeration("", [("A", 0)]) },
    SetFault("value of enum x.E has a name") { $0.enumeration("E", [("a-b", 0)]) },
    SetFault("x.M is declared twice") { file in
      file.message("M")
      file.enumeration("M", [("A", 0)])
    },
    SetFault("field x.M.a is declared twice") {
      $0.message("M") {
        $0.field("a", 1); $0.field("a", 2)
      }
    },
    SetFault("field x.M.b and a have the same number 1") {
      $0.message("M") {
        $0.field("a", 1); $0.field("b", 1)
      }
    },
    SetFault("has number 0, which no field can have") { $0.message("M") { $0.field("a", 0) } },
    SetFault("has number -5, which no field can have") { $0.message("M") { $0.field("a", -5) } },
    SetFault("has number 19500, which no field can have") { $0.message("M") { $0.field("a", 19_500) } },
    SetFault("has number 536870912, which no field can have") { $0.message("M") { $0.field("a", 536_870_912) } },
    SetFault("fields foo_bar and fooBar of x.M have the same JSON name fooBar") {
      $0.message("M") {
        $0.field("foo_bar", 1); $0.field("fooBar", 2)
      }
    },
    SetFault("enum x.E has no values") { $0.enumeration("E", []) },
    SetFault("enum x.E has two values A") { $0.enumeration("E", [("A", 0), ("A", 1)]) },
    SetFault("the first value of enum x.E is 3, it must be 0") { $0.enumeration("E", [("A", 3)]) },
  ]
  static let types: [SetFault] = [
    SetFault("field x.M.a has no type that is known") { $0.message("M") { $0.field("a", 1, type: 0) } },
    SetFault("field x.M.a has no type that is known") { $0.message("M") { $0.field("a", 1, type: 77) } },
    SetFault("field x.M.a names no type") { $0.message("M") { $0.field("a", 1, type: 11) } },
    SetFault("field x.M.a refers to y.Absent, which fixture.binpb lacks") {
      $0.message("M") { $0.field("a", 1, type: 11) { $0.text(6, ".y.Absent") } }
    },
    SetFault("of its imports y/y.proto, z.proto is missing") { file in
      for name in ["y/y.proto", "google/protobuf/any.proto", "z.proto"] { file.text(3, name) }
      file.message("M") { $0.field("a", 1, type: 14) { $0.text(6, ".y.Absent") } }
    },
    SetFault("refers to .x.E, which is of another kind") { file in
      file.enumeration("E", [("A", 0)])
      file.message("M") { $0.field("a", 1, type: 11) { $0.text(6, ".x.E") } }
    },
    SetFault("has the type of a map's entries and is no map") { file in
      file.message("M") { message in
        message.message("AEntry", field: 3) { $0.mapEntry() }
        message.field("a", 1, type: 11) { $0.text(6, ".x.M.AEntry") }
      }
    },
    SetFault("is marked as the entry of a map and has not the fields of one") { file in
      file.message("M") { $0.nested(7) { $0.number(7, 1) } }
    },
    SetFault("is marked as the entry of a map and has not the fields of one") { file in
      file.message("M") { $0.mapEntry(key: 1) }
    },
    SetFault("extension x.e extends .x.E, which is no message") { file in
      file.enumeration("E", [("A", 0)])
      file.field("e", 1, in: 7) { $0.text(2, ".x.E") }
    },
    SetFault("extension x.e has number 1, which x.M does not leave to extensions") { file in
      file.message("M")
      file.field("e", 1, in: 7) { $0.text(2, ".x.M") }
    },
    SetFault("extension x.e refers to x.Absent", syntax: "proto2") { file in
      file.field("e", 1, in: 7) { $0.text(2, ".x.Absent") }
    },
    SetFault("x.M has the wire format of message sets and fields of its own", syntax: "proto2") { file in
      file.message("M") { message in
        message.messageSet()
        message.field("a", 1)
      }
    },
    SetFault("[x.e] extends x.M, which has the wire format of message sets", syntax: "proto2") { file in
      file.message("M") { $0.messageSet() }
      file.field("e", 100, in: 7, type: 5) { $0.text(2, ".x.M") }
    },
    SetFault("field x.M.[x.f] and [x.e] have the same number 5", syntax: "proto2") { file in
      file.message("M") {
        $0.nested(5) { range in
          range.number(1, 5); range.number(2, 9)
        }
      }
      for name in ["e", "f"] { file.field(name, 5, in: 7) { $0.text(2, ".x.M") } }
    },
  ]
  static let oneofs: [SetFault] = [
    SetFault("field x.M.a is in a oneof that does not exist") {
      $0.message("M") { $0.field("a", 1) { $0.number(9, 0) } }
    },
    SetFault("field x.M.a is in a oneof that does not exist") {
      $0.message("M") { $0.field("a", 1) { $0.number(9, -1) } }
    },
    SetFault("field x.M.a is repeated and in a oneof") {
      $0.message("M") { message in
        message.field("a", 1, label: 3) { $0.number(9, 0) }
        message.nested(8) { $0.text(1, "o") }
      }
    },
  ]
  static let services: [SetFault] = [
    SetFault("the request of method x.S/Do refers to x.Absent") { file in
      file.message("M")
      file.service("S", input: ".x.Absent")
    },
    SetFault("the response of method x.S/Do is .x.E, which is no message") { file in
      file.message("M")
      file.enumeration("E", [("A", 0)])
      file.service("S", output: ".x.E")
    },
    SetFault("method x.S/Do is declared twice") { file in
      file.message("M")
      file.service("S", methods: ["Do", "Do"])
    },
    SetFault("google.api.http of method x.S/Do has no path") { file in
      file.message("M")
      file.service("S") { $0.text(7, "*") }
    },
    SetFault("has the kind GET IT, which is no HTTP method") { file in
      file.message("M")
      file.service("S") { rule in
        rule.nested(8) {
          $0.text(1, "GET IT"); $0.text(2, "/a")
        }
      }
    },
    SetFault("an additional binding in google.api.http of method x.S/Do has no path") { file in
      file.message("M")
      file.service("S") { rule in
        rule.text(2, "/a")
        rule.nested(11) { $0.text(2, "") }
      }
    },
    SetFault("google.api.http of method x.S/Do has the field 13, which no rule known here has") { file in
      file.message("M")
      file.service("S") { rule in
        rule.text(2, "/a"); rule.text(13, "/b")
      }
    },
    SetFault("has additional bindings of its own") { file in
      file.message("M")
      file.service("S") { rule in
        rule.text(2, "/a")
        rule.nested(11) { more in
          more.text(2, "/b")
          more.nested(11) { $0.text(2, "/c") }
        }
      }
    },
  ]
}

extension DescriptorBytes {
  /// The option and the numbers of a message set.
  mutating func messageSet() {
    nested(7) { $0.number(1, 1) }
    nested(5) { range in
      range.number(1, 4); range.number(2, 2_147_483_647)
    }
  }

  /// The content of a map entry of strings.
  mutating func mapEntry(key: Int64 = 9) {
    nested(7) { $0.number(7, 1) }
    field("key", 1, type: key)
    field("value", 2)
  }
}

@Suite struct SetFaultTests {
  @Test(arguments: SetFault.all)
  func isNamedAtTheEntry(fault: SetFault) throws {
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(fault.bytes)])
    #expect(schema == nil)
    #expect(diagnostics.count == 1, "\(diagnostics)")
    let only = try #require(diagnostics.first)
    #expect(only.severity == .error)
    #expect(only.position == Fixtures.entry)
    #expect(only.what.hasPrefix("x.proto: "))
    #expect(only.what.contains(fault.words), "\(only.what)")
  }

  @Test func comesWithAllOthers() {
    let sets = SetFault.all.enumerated().map { index, fault in
      // Each in a file and package of its own, so that only the faults meet.
      Fixtures.set(fault.bytes.replacing("x.proto", with: "x\(index).proto", package: "p\(index)"))
    }
    let (schema, diagnostics) = SchemaLoader.load(sets)
    #expect(schema == nil)
    #expect(diagnostics.count >= SetFault.all.count)
  }

  @Test func sayWhatDiffersBetweenSets() throws {
    let first = DescriptorBytes.set { $0.message("M") }
    let second = DescriptorBytes.set { $0.message("M") { $0.field("a", 1) } }
    let (schema, diagnostics) = SchemaLoader.load([
      Fixtures.set(first, path: "a.binpb"), Fixtures.set(second, path: "b.binpb"),
    ])
    #expect(schema == nil)
    #expect(diagnostics.map(\.what) == ["x.proto in b.binpb differs from x.proto in a.binpb"])
  }

  @Test func nameBothFilesOfATypeDeclaredTwice() {
    let first = DescriptorBytes.set("v1/x.proto") { $0.message("M") }
    let second = DescriptorBytes.set("proto/v1/x.proto") { $0.message("M") }
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(first), Fixtures.set(second)])
    #expect(schema == nil)
    #expect(diagnostics.map(\.what) == ["proto/v1/x.proto: x.M is declared in v1/x.proto too"])
  }

  @Test func ignoreCommentsAndUnknownOptionsInComparison() throws {
    let plain = DescriptorBytes.set { $0.message("M") }
    let commented = DescriptorBytes.set { file in
      file.message("M") { $0.nested(7) { $0.text(50_000, "an option") } }
      file.nested(9) { $0.nested(1) { $0.text(3, "a comment") } }
    }
    _ = try Fixtures.schema(Fixtures.set(plain), Fixtures.set(commented))
  }

  @Test func resolveRelativeReferencesOutward() throws {
    let set = DescriptorBytes.set { file in
      file.message("M")
      file.message("N") { message in
        message.message("M", field: 3)
        message.field("near", 1, type: 0) { $0.text(6, "M") }
        message.field("far", 2, type: 11) { $0.text(6, "x.M") }
      }
    }
    let schema = try Fixtures.schema(Fixtures.set(set))
    #expect(schema.messages[try schema.field("x.N", "near").messageIndex].fullName == "x.N.M")
    #expect(schema.messages[try schema.field("x.N", "far").messageIndex].fullName == "x.M")
  }

  @Test func warnWhenAJSONNameIsAnotherField() throws {
    let set = DescriptorBytes.set { file in
      file.message("M") { message in
        message.field("uid", 1) { $0.text(10, "id") }
        message.field("id", 2) { $0.text(10, "oldId") }
      }
    }
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(set)])
    #expect(schema != nil)
    #expect(diagnostics.map(\.severity) == [.warning])
    #expect(diagnostics.first?.what == "x.proto: the JSON name id of x.M.uid is the name of another field")
  }

  @Test func acceptUnusedMissingImports() throws {
    let set = DescriptorBytes.set { file in
      file.text(3, "buf/validate/validate.proto")
      file.message("M")
    }
    _ = try Fixtures.schema(Fixtures.set(set))
  }
}

extension [UInt8] {
  /// The same set under another file name; lengths of both names may differ, so the file is built anew.
  fileprivate func replacing(_ name: String, with other: String, package: String) -> [UInt8] {
    // The file is `0A length …`; its name and package are the first two fields.
    var reader = WireReader(span)
    guard (try? reader.readTag()) != nil, let range = try? reader.readLengthDelimited() else { return self }
    let fields = 2 + name.utf8.count + 3
    let rest = Array(self[range].dropFirst(fields))
    return DescriptorBytes.make { set in
      set.nested(1) { file in
        file.text(1, other)
        file.text(2, package)
        file.raw(rest)
      }
    }
  }
}
