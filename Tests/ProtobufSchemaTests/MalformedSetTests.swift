import Diagnostics
import ProtobufSchema
import Testing

/// Bytes that are no descriptor set, or no longer one: a diagnostic, never a trap.
@Suite struct MalformedSetTests {
  /// Loads; a schema comes exactly when there is no error, and every fault has the entry's place.
  private func load(_ bytes: [UInt8]) -> [Diagnostic] {
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(bytes)])
    let hasErrors = diagnostics.contains { $0.severity == .error }
    #expect((schema == nil) == hasErrors)
    #expect(diagnostics.allSatisfy { $0.position == Fixtures.entry })
    return diagnostics
  }

  /// Where one file ends and the next begins.
  private func boundaries(of bytes: [UInt8]) throws -> Set<Int> {
    var reader = WireReader(bytes.span)
    var result: Set<Int> = [0]
    while let tag = try reader.nextTag() {
      try reader.skip(tag)
      result.insert(reader.offset)
    }
    return result
  }

  static func sets() throws -> [[UInt8]] {
    [
      try Fixtures.compiled("depot/v1/types.proto", "legacy/v1/legacy.proto"),
      try Fixtures.bytes("editions/yard.binpb"),
    ]
  }

  @Test func everyTruncationIsAFault() throws {
    for set in try Self.sets() {
      let boundaries = try boundaries(of: set)
      for length in 0..<set.count where !boundaries.contains(length) {
        let diagnostics = load(Array(set[..<length]))
        #expect(diagnostics.count == 1)
        #expect(diagnostics.first?.what.hasPrefix("fixture.binpb is not a FileDescriptorSet") == true, "\(length)")
      }
    }
  }

  @Test func setsCutBetweenFilesLackTheirImports() throws {
    let set = try Fixtures.compiled("depot/v1/depot.proto")
    let boundaries = try boundaries(of: set).sorted()
    #expect(boundaries.count > 5)
    // Imports come first: all but the last file are whole without it.
    for length in boundaries.dropFirst() { #expect(load(Array(set[..<length])).isEmpty) }
    // Without the first ones the built-in files stand in, but depot/v1/types.proto is nowhere else.
    let types = try #require(set.firstRange(of: Array("depot/v1/types.proto".utf8)))
    let next = try #require(boundaries.first { $0 > types.upperBound })
    let diagnostics = load(Array(set[next...]))
    #expect(
      diagnostics.map(\.what) == [
        "depot/v1/depot.proto: field depot.v1.Crate.size refers to depot.v1.Size, which fixture.binpb lacks; "
          + "of its imports depot/v1/types.proto is missing"
      ])
  }

  @Test func changedBytesNeverTrap() throws {
    for set in try Self.sets() {
      for index in set.indices {
        for value in [0x00, 0xFF, set[index] ^ 0x08] {
          var changed = set
          changed[index] = value
          _ = load(changed)
        }
      }
    }
  }

  @Test func scrambledBytesNeverTrap() throws {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    for set in try Self.sets() {
      for _ in 0..<250 {
        var changed = set
        for _ in 0...random(6) {
          let start = random(changed.count)
          let end = min(changed.count, start + random(12))
          switch random(3) {
          case 0: changed.removeSubrange(start..<end)
          case 1: changed.insert(contentsOf: changed[start..<end], at: random(changed.count))
          default: for index in start..<end { changed[index] = UInt8(random(256)) }
          }
          if changed.isEmpty { changed = [0x0A] }
        }
        _ = load(changed)
      }
    }
  }

  @Test func messagesNestedTooDeeplyAreAFault() throws {
    func nested(_ depth: Int) -> [UInt8] {
      var content: [UInt8] = DescriptorBytes.make { $0.text(1, "M") }
      for _ in 1..<depth {
        content = DescriptorBytes.make { message in
          message.text(1, "M")
          message.content(3, content)
        }
      }
      return DescriptorBytes.set { $0.content(4, content) }
    }
    #expect(load(nested(100)).isEmpty)
    #expect(load(nested(101)).first?.what.contains("messages are nested too deeply") == true)
    #expect(load(nested(5_000)).first?.what.contains("messages are nested too deeply") == true)
  }

  @Test(arguments: [
    ("", "holds no files"), ("\u{1F}\u{8B}\u{08}", "is not"), ("{\"file\": []}", "it is JSON"),
    ("syntax = \"proto3\";", "it is a source"), ("// a comment", "it is a source"), ("hello", "buf build"),
  ])
  func otherFilesAreNamed(text: String, words: String) throws {
    let diagnostics = load(Array(text.utf8))
    #expect(diagnostics.count == 1)
    #expect(try #require(diagnostics.first).message.contains(words), "\(diagnostics)")
  }

  @Test func compressedSetsAreNamed() throws {
    let diagnostics = load([0x1F, 0x8B, 0x08, 0x00])
    #expect(try #require(diagnostics.first).cure == "it is compressed with gzip: unpack it")
  }

  @Test func unknownFieldsAreSkipped() throws {
    let set = DescriptorBytes.make { set in
      set.text(99, "later")
      set.file("x.proto") { file in
        file.number(77, 5)
        // Known numbers with another wire type are unknown fields too.
        file.text(14, "text")
        file.message("M") { message in
          message.field("a", 1) { $0.raw([0xA3, 0x06, 0xA4, 0x06]) }
          message.number(2, 1)
        }
      }
    }
    #expect(load(set).isEmpty)
  }
}
