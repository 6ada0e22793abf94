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

  private func fault(_ path: String, limit: Int, mayBeEmpty: Bool = true) -> FileFault.Kind? {
    do throws(FileFault) {
      _ = try WholeFile(path, limit: limit, mayBeEmpty: mayBeEmpty)
      return nil
    } catch {
      return error.kind
    }
  }

  @Test(arguments: [0, 1, 2, 65_535, 65_536, 65_537, 300_000]) func readsFilesOfEverySize(size: Int) throws {
    try withFile(size) { path, bytes in
      // The limit is allowed, one byte more is not.
      let read = try WholeFile(path, limit: size).bytes
      #expect(read == bytes)
      let refused = fault(path, limit: size, mayBeEmpty: false)
      let expected: FileFault.Kind? = size == 0 ? .empty : nil
      #expect(refused == expected)
      if size > 0 { #expect(fault(path, limit: size - 1) == .tooLarge(size - 1)) }
    }
  }

  /// The kernel's own say that they are empty, and some have nothing to say now: neither is waited for.
  @Test func readsWhatSaysNothingOfItsSize() throws {
    let read = try WholeFile("/proc/self/status", limit: 1 << 20).bytes
    #expect(String(decoding: read, as: UTF8.self).contains("Pid:"))
    #expect(fault("/proc/self/status", limit: 10) == .tooLarge(10))
  }

  @Test func saysWhyItCannotBeHad() throws {
    let gone = "/nowhere/at-all"
    #expect(fault(gone, limit: 1) == .unreadable(ENOENT))
    #expect(fault("/tmp", limit: 1) == .notAFile)
    #expect(fault("/dev/zero", limit: 1) == .notAFile)
    #expect(FileFault(.unreadable(ENOENT)).reason == "no such file or directory")
    #expect(FileFault(.tooLarge(5)).reason == "it is larger than 5 bytes")
  }

  /// A pipe without a writer would stop a reload for ever.
  @Test func aFileThatIsNoneIsNotWaitedFor() throws {
    mkdir(Self.folder, 0o700)
    let path = "\(Self.folder)/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    #expect(fault(path, limit: 1) == .notAFile)
    // With a writer it could be read, and is as little a file.
    let writer = open(path, O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    #expect(fault(path, limit: 1) == .notAFile)
  }
}
