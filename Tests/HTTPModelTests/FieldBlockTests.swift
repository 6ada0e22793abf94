import Bytes
import HTTPModel
import Testing

@Suite("Field block")
struct FieldBlockTests {
  static func sample() -> FieldBlock {
    let block = FieldBlock()
    block.append("Host", "a")
    block.append("X-One", "1")
    block.append(.contentType, "text/plain" as StaticString)
    block.append("x-one", "2")
    block.append(.contentLength, decimal: 12_345)
    return block
  }

  static func written(_ block: FieldBlock, omitting names: FieldNames = []) -> String {
    var output = ByteBuffer()
    block.write(into: &output, omitting: names)
    return String(repairing: output.span)
  }

  @Test("fields are written as lines in their order, with their spelling")
  func order() {
    let block = Self.sample()
    let text = "Host: a\r\nX-One: 1\r\ncontent-type: text/plain\r\nx-one: 2\r\ncontent-length: 12345\r\n"
    #expect(Self.written(block) == text)
    #expect(block.byteCount == text.utf8.count)
    #expect(block.count == 5)
    #expect(block.indices == 0..<5)
  }

  @Test("a name of any length keeps its line, beside removed fields too", arguments: [65_535, 65_536, 70_000])
  func longNames(length: Int) {
    let name = String(repeating: "n", count: length)
    let block = FieldBlock()
    block.append("host", "a")
    block.append(name, "value")
    block.append("te", "trailers")
    block.remove(.te)
    #expect(Self.written(block) == "host: a\r\n\(name): value\r\n")
    #expect(block.text(at: 1) == "value")
  }

  @Test("names are found without case, the first one of several")
  func finding() {
    let block = Self.sample()
    #expect(block.firstIndex(of: .host) == 0)
    #expect(block.firstIndex(of: Array("X-ONE".utf8).span) == 1)
    #expect(block.firstIndex(of: Array("CONTENT-type".utf8).span) == 2)
    #expect(block.firstIndex(of: Array("x-on".utf8).span) == nil)
    #expect(block.contains(.contentLength) && !block.contains(.te))
    #expect(block.firstIndex(of: .other) == 1)
    #expect(block.mayContain([.te, .host]) && !block.mayContain([.te, .via]))
    #expect(block.text(of: "x-one") == "1")
    #expect(block.text(of: .contentLength) == "12345")
    #expect(block.text(of: .te) == nil)
    #expect(block.name(at: 1) == "X-One" && block.text(at: 3) == "2")
    #expect(block.entry(at: 3).name == .other && block.entry(at: 0).name == .host)
  }

  @Test("empty names and values keep their place")
  func empty() {
    let block = FieldBlock()
    block.append("", "")
    block.append("x", "")
    #expect(Self.written(block) == ": \r\nx: \r\n")
    #expect(block.text(of: "x") == "")
    #expect(block.name(at: 0) == "")
  }

  @Test("removed fields are neither found, counted nor written; any subset may go", arguments: 0..<32)
  func removing(_ subset: Int) {
    let block = Self.sample()
    let lines = Self.written(block).split(separator: "\r\n").map { "\($0)\r\n" }
    for index in 0..<5 where subset >> index & 1 != 0 {
      block.remove(at: index)
      block.remove(at: index)
    }
    let left = (0..<5).filter { subset >> $0 & 1 == 0 }
    #expect(Self.written(block) == left.map { lines[$0] }.joined())
    #expect(block.count == left.count)
    #expect(block.isEmpty == left.isEmpty)
    #expect(block.count(of: .host) == (left.contains(0) ? 1 : 0))
    #expect(block.firstIndex(of: Array("x-one".utf8).span) == left.first { $0 == 1 || $0 == 3 })
  }

  @Test("removing by name takes all fields of the name")
  func removingByName() {
    let block = Self.sample()
    block.append("HOST", "b")
    block.remove(named: Array("X-one".utf8).span)
    block.remove(.host)
    #expect(Self.written(block) == "content-type: text/plain\r\ncontent-length: 12345\r\n")
    block.remove(named: Array("Content-Type".utf8).span)
    block.append("x-one", "3")
    #expect(Self.written(block) == "content-length: 12345\r\nx-one: 3\r\n")
    #expect(block.text(of: "X-ONE") == "3")
  }

  @Test("a block holds as many fields as are added, and is used again", arguments: [7, 8, 9, 16, 17, 100])
  func growing(_ count: Int) {
    let block = FieldBlock()
    for round in 0..<2 {
      for number in 0..<count { block.append("x-\(number)", "\(round).\(number)") }
      block.append(.te, "trailers" as StaticString)
      #expect(block.count == count + 1 && block.indices == 0..<count + 1)
      for number in 0..<count { #expect(block.text(of: "x-\(number)") == "\(round).\(number)") }
      for number in stride(from: 0, to: count, by: 2) { block.remove(at: number) }
      #expect(block.count == count / 2 + 1)
      #expect(block.count(of: .other) == count / 2)
      #expect(block.firstIndex(of: .te) == count && block.nextIndex(of: .te, from: count + 1) == nil)
      #expect(block.withFields { _, entries in entries.count } == count + 1)
      block.removeAll()
      #expect(block.isEmpty && !block.contains(.te) && !block.mayContain([.te]))
    }
  }

  @Test("names can be left out of what is written, with removed fields between")
  func omitting() {
    let block = Self.sample()
    block.remove(at: 1)
    #expect(
      Self.written(block, omitting: [.host, .contentLength]) == "content-type: text/plain\r\nx-one: 2\r\n")
    #expect(block.contains(.host))
    #expect(Self.written(FieldBlock(), omitting: [.host]) == "")
  }

  @Test("fields go from block to block, with a prefix if wanted, removed ones not")
  func copying() {
    let source = Self.sample()
    source.remove(.host)
    let target = FieldBlock()
    target.append("first", "0")
    target.append(contentsOf: source)
    target.append(from: source, at: 1, prefix: "Trailer-")
    target.append(from: source, at: 2)
    #expect(
      Self.written(target)
        == "first: 0\r\nX-One: 1\r\ncontent-type: text/plain\r\nx-one: 2\r\ncontent-length: 12345\r\n"
        + "Trailer-X-One: 1\r\ncontent-type: text/plain\r\n")
    #expect(target.text(of: "trailer-x-one") == "1")
    #expect(target.count(of: .contentType) == 2)
    #expect(target.text(at: 6) == "text/plain")
  }

  @Test("a prefix can make a known name")
  func prefixMakesKnownName() {
    let source = FieldBlock()
    source.append("authorization", "x")
    let target = FieldBlock()
    target.append(from: source, at: 0, prefix: "proxy-")
    #expect(target.contains(.proxyAuthorization))
  }

  @Test("a cleared block is as new")
  func clearing() {
    let block = Self.sample()
    block.remove(.host)
    block.removeAll()
    #expect(!block.mayContain([.host, .contentType]))
    #expect(block.isEmpty && block.byteCount == 0 && block.indices.isEmpty)
    block.append("Host", "b")
    #expect(block.text(of: .host) == "b")
    #expect(Self.written(block) == "Host: b\r\n")
  }

  @Test("spans of name and value lie where the texts are")
  func spans() {
    let block = Self.sample()
    let name = block.withName(at: 4) { span in String(repairing: span) }
    let value = block.withValue(at: 4) { span in String(repairing: span) }
    #expect(name == "content-length" && value == "12345")
  }
}
