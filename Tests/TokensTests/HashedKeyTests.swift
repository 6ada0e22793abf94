import Testing

@testable import Tokens

@Suite struct HashedKeyTests {
  private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  private func name(_ key: String, in file: String) throws -> String? {
    let keys = try HashedKeys(parsing: Array(file.utf8))
    let digest = TokenDigester().digest(Array(key.utf8).span)
    let known = try #require(digest)
    return keys.name(of: known).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func aKeyIsKnownByItsDigest() throws {
    let file = "# comment\r\n\n  \(Self.hello.uppercased())\tanna  of the apps \r\n"
    #expect(try name("hello", in: file) == "anna of the apps")
    #expect(try name("hello", in: Self.hello) == "")
    for other in ["", "hell", "hello ", "HELLO", Self.hello] { #expect(try name(other, in: file) == nil) }
    #expect(try name("hello", in: "# nothing\n") == nil)
  }

  @Test(arguments: [
    ("junk", 1), ("\n\(hello)0", 2), ("\(hello)\n\(hello) again", 2), (String(hello.dropLast()), 1),
    ("\(String(hello.dropLast()))g", 1), ("\(hello) \u{e4}", 1), ("\(hello) \(String(repeating: "x", count: 257))", 1),
  ]) func otherLinesAreFaults(file: String, line: Int) {
    #expect(throws: HashedKeys.Fault.self) {
      do throws(HashedKeys.Fault) {
        _ = try HashedKeys(parsing: Array(file.utf8))
      } catch {
        #expect(error.line == line)
        throw error
      }
    }
  }
}
