import Testing

@testable import Gateway

/// What of the process may be forgotten, because the system has it.
@Suite struct MappedAreaTests {
  private func areas(_ heads: [String], anonymous: Int = 0, more: String = "") -> [MappedArea] {
    MappedArea.areas(
      heads.map {
        "\($0)\nSize:       52 kB\nRss:      48 kB\nAnonymous:   \(anonymous) kB\n\(more)VmFlags: rd ex mr mw me\n"
      }
      .joined())
  }

  @Test func codeOfTheProgramAndOfLibraries() {
    let found = areas([
      "5583a0000000-5583a0ccd000 r-xp 00000000 fd:00 1234       /usr/local/bin/turnout",
      "7f0000000000-7f0000001000 r--p 00001000 fd:00 99         /usr/lib/a library.so.3",
    ])
    #expect(found.map(\.isPlainFile) == [true, true])
    #expect(found[0].start == 0x5583_a000_0000 && found[0].end == 0x5583_a0cc_d000)
  }

  @Test(arguments: [
    "5583a0000000-5583a0ccd000 rw-p 00000000 fd:00 1234       /usr/local/bin/turnout",
    "5583a0000000-5583a0ccd000 rw-s 00000000 fd:00 1234       /tmp/shared",
    "5583a0000000-5583a0ccd000 r--s 00000000 fd:00 1234       /tmp/shared",
    "5583a0000000-5583a0ccd000 rw-p 00000000 00:00 0          [heap]",
    "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0          [vdso]",
    "5583a0000000-5583a0ccd000 r--p 00000000 00:00 0 ",
  ])
  func whatCanBeWrittenOrIsNoFileStays(_ head: String) {
    #expect(areas([head]).map(\.isPlainFile) == [false])
  }

  @Test func whatDiffersFromItsFileStays() {
    let code = "5583a0000000-5583a0ccd000 r-xp 00000000 fd:00 1234 /usr/local/bin/turnout"
    #expect(areas([code], anonymous: 4).map(\.isPlainFile) == [false])
    #expect(areas([code], more: "Swap:  8 kB\n").map(\.isPlainFile) == [false])
    #expect(areas([code], more: "Locked:  8 kB\n").map(\.isPlainFile) == [false])
    #expect(areas([code, code], anonymous: 0).map(\.isPlainFile) == [true, true])
  }

  @Test func whatIsNotUnderstoodStays() {
    let code = "5583a0000000-5583a0ccd000 r-xp 00000000 fd:00 1234 /usr/local/bin/turnout\n"
    #expect(MappedArea.areas(code).map(\.isPlainFile) == [false])
    #expect(MappedArea.areas(code + "Anonymous: many kB\n").map(\.isPlainFile) == [false])
    #expect(MappedArea.areas("").isEmpty)
    #expect(MappedArea.areas("what is this\n1-2\nzz-yy r-xp 0 0 0 /a\n").isEmpty)
  }

  @Test func filesThatAreNoCodeStay() {
    let found = areas([
      "5583a0000000-5583a0001000 r--p 00000000 fd:00 1 /usr/local/bin/turnout",
      "5583a0001000-5583a0002000 r-xp 00001000 fd:00 1 /usr/local/bin/turnout",
      "7f0000000000-7f0000001000 r--p 00000000 fd:00 2 /etc/ld.so.cache",
    ])
    #expect(MappedArea.code(found).map(\.path) == ["/usr/local/bin/turnout", "/usr/local/bin/turnout"])
  }

  @Test func thisProcess() throws {
    let bytes = try FileContent.read("/proc/self/smaps", limit: StartupMemory.longest).get()
    let found = MappedArea.areas(String(decoding: bytes, as: UTF8.self))
    let code = MappedArea.code(found)
    #expect(!code.isEmpty && code.count < found.count)
    // What is forgotten comes back as it was.
    func pages() -> [[UInt8]] {
      code.filter(\.isExecutable).compactMap { area in
        UnsafeRawPointer(bitPattern: area.start).map { [UInt8](UnsafeRawBufferPointer(start: $0, count: 4096)) }
      }
    }
    let before = pages()
    StartupMemory.release()
    #expect(pages() == before)
  }
}
