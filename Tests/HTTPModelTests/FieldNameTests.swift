import Bytes
import HTTPModel
import Testing

@Suite("Field names")
struct FieldNameTests {
  @Test("every known name is found, in any case", arguments: FieldName.allCases.filter { $0 != .other })
  func known(_ name: FieldName) {
    let text = "\(name.text)"
    #expect(text == text.lowercased())
    #expect(!text.isEmpty)
    #expect(FieldName(Array(text.utf8).span) == name)
    #expect(FieldName(Array(text.uppercased().utf8).span) == name)
    #expect(SyntaxTests.isToken(text))
  }

  @Test("a name with one byte changed, more or less is another", arguments: FieldName.allCases.filter { $0 != .other })
  func near(_ name: FieldName) {
    let bytes = Array("\(name.text)".utf8)
    #expect(FieldName((bytes + [UInt8(ascii: "x")]).span) == .other)
    #expect(FieldName(Array(bytes.dropLast()).span) == .other)
    for index in bytes.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = bytes
        changed[index] = byte
        let isSame = ASCII.lowercased(byte) == bytes[index]
        #expect(FieldName(changed.span) == (isSame ? name : .other), "byte \(byte) at \(index)")
      }
    }
  }

  @Test("no name and long names are other")
  func other() {
    #expect(FieldName([UInt8]().span) == .other)
    #expect(FieldName([UInt8](repeating: UInt8(ascii: "a"), count: 300).span) == .other)
  }

  @Test("each known name has a bit of its own in a set")
  func sets() {
    var all = FieldNames()
    for name in FieldName.allCases where name != .other {
      #expect(!all.contains(name))
      all.formUnion(FieldNames(name))
      #expect(all.contains(name), "\(name) does not fit")
    }
    #expect(!all.contains(.other))
    let some: FieldNames = [.host, .te, .other]
    #expect(some.contains(.host) && some.contains(.te) && !some.contains(.via) && !some.contains(.other))
  }
}
