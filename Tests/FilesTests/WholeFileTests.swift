import Dispatch
import Glibc
import Testing

@testable import Files

@Suite struct WholeFileTests {
  private static let folder = "/tmp/turnout-files-\(getpid())-\(UInt64.random(in: 0 ... .max))"

  /// A file of a pattern; gone with the process's end of the test.
  private func withFile(_ size: Int, _ body: (String, [UInt8]) throws -> Void) throws {
    mkdir(Self.folder, 0o700)
    let path = "\(Self.folder)/\(UInt64.random(in: 0 ... .max))"
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == size)
    close(descriptor)
    defer { unlink(path) }
    try body(path, bytes)
  }

  private func fault(_ path: String, limit: Int, _ source: WholeFile.Source = .any, mayBeEmpty: Bool = true)
    -> FileFault.Kind?
  {
    do throws(FileFault) {
      _ = try WholeFile(path, limit: limit, source, mayBeEmpty: mayBeEmpty)
      return nil
    } catch {
      return error.kind
    }
  }

  @Test(arguments: [0, 1, 2, 65_535, 65_536, 65_537, 300_000]) func readsFilesOfEverySize(size: Int) throws {
    try withFile(size) { path, bytes in
      for source in [WholeFile.Source.any, .regular] {
        // The limit is allowed, one byte more is not.
        let read = try WholeFile(path, limit: size, source).bytes
        #expect(read == bytes)
        let refused = fault(path, limit: size, source, mayBeEmpty: false)
        let expected: FileFault.Kind? = size == 0 ? .empty : nil
        #expect(refused == expected)
        if size > 0 { #expect(fault(path, limit: size - 1, source) == .tooLarge(size - 1)) }
      }
    }
  }

  @Test func readsAPipeThatComesInPieces() throws {
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (output, input) = (ends[0], ends[1])
    defer { close(output) }
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    DispatchQueue.global().async {
      var sent = 0
      while sent < bytes.count {
        let some = bytes[sent..<min(bytes.count, sent + 9_999)]
        sent += max(0, some.withUnsafeBytes { write(input, $0.baseAddress, $0.count) })
      }
      close(input)
    }
    let read = try WholeFile("/dev/fd/\(output)", limit: bytes.count).bytes
    #expect(read == bytes)
  }

  @Test func saysWhyItCannotBeHad() throws {
    let gone = "/nowhere/at-all"
    #expect(fault(gone, limit: 1) == .unreadable(ENOENT))
    #expect(fault("/tmp", limit: 1) == .unreadable(EISDIR))
    #expect(fault("/tmp", limit: 1, .regular) == .notAFile)
    #expect(fault("/dev/zero", limit: 100_000) == .tooLarge(100_000))
    #expect(fault("/dev/zero", limit: 1, .regular) == .notAFile)
    #expect(FileFault(.unreadable(ENOENT)).reason == "no such file or directory")
    #expect(FileFault(.tooLarge(5)).reason == "it is larger than 5 bytes")
  }

  /// A pipe without a writer would stop a reload for ever.
  @Test func aFileThatIsNoneIsNotWaitedFor() throws {
    mkdir(Self.folder, 0o700)
    let path = "\(Self.folder)/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    #expect(fault(path, limit: 1, .regular) == .notAFile)
  }
}
