import Bytes
import HTTPModel
import Testing

/// Misuse stops the process at once, in release builds too, where the compiler's own checks are off.
@Suite("Field block misuse")
struct FieldBlockMisuseTests {
  private static func block() -> FieldBlock {
    let block = FieldBlock()
    block.append("x-one", "1")
    return block
  }

  @Test("what is lent to a body must not be changed by it")
  func changes() async {
    await #expect(processExitsWith: .failure) {
      let block = Self.block()
      block.withValue(at: 0) { _ in block.append("x-two", "2") }
    }
    await #expect(processExitsWith: .failure) {
      let block = Self.block()
      block.withName(at: 0) { _ in block.removeAll() }
    }
    await #expect(processExitsWith: .failure) {
      let block = Self.block()
      block.withFields { _, _ in block.append(.te, "trailers") }
    }
    await #expect(processExitsWith: .failure) {
      let head = RequestHead()
      head.target.append("/")
      head.withPath { _ in head.removeAll() }
    }
    await #expect(processExitsWith: .failure) {
      let head = RequestHead()
      head.target.append("/")
      head.target.withSpan { _ in head.target.append("x") }
    }
    await #expect(processExitsWith: .failure) {
      let head = RequestHead()
      head.authority.append("a.example")
      head.authority.withSpan { _ in head.removeAll() }
    }
  }

  @Test("what is lent may be read by others, and is changed afterwards")
  func reading() {
    let head = RequestHead()
    head.target.append("/x?y")
    head.pathEnd = 2
    head.authority.append("a.example")
    let read = head.target.withSpan { target in
      head.withPath { path in
        head.authority.append(":80")
        return target.count + path.count + head.target.count
      }
    }
    #expect(read == 4 + 2 + 4)
    head.target.append("z")
    #expect(head.targetText == "/x?yz")
    #expect(head.authority.withSpan { String(repairing: $0) } == "a.example:80")
  }

  @Test("a block is not added to itself")
  func itself() async {
    await #expect(processExitsWith: .failure) {
      let block = Self.block()
      block.append(from: block, at: 0)
    }
  }

  @Test("removing is no change of what is lent")
  func removing() {
    let block = Self.block()
    let value = block.withValue(at: 0) { value in
      block.remove(at: 0)
      return String(repairing: value)
    }
    #expect(value == "1" && block.isEmpty)
  }

  @Test("a body that throws gives back what it was lent")
  func throwing() {
    struct Stop: Error {}
    let block = Self.block()
    #expect(throws: Stop.self) { try block.withValue(at: 0) { (_) throws(Stop) in throw Stop() } }
    block.append("x-two", "2")
    #expect(block.count == 2)
  }
}
