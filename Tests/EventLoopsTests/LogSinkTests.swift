import Bytes
import Glibc
import EventLoopsTestSupport
import Testing

@testable import EventLoops

@Suite struct LogSinkTests {
  @Test func writesLinesInOrderAndReopensByName() throws {
    let folder = try TemporaryFolder()
    let sink = try LogSink(.file(path: folder.file("access.log")))
    sink.write(line: "one")
    sink.write(line: "two")
    try sink.reopen()
    try folder.move("access.log", to: "access.log.1")
    sink.write(line: "three")
    sink.flush()
    try sink.reopen()
    sink.write(line: "four")
    sink.flush()
    #expect(try folder.read("access.log.1") == "one\ntwo\nthree\n")
    #expect(try folder.read("access.log") == "four\n")
    #expect(sink.dropped == 0)
  }

  @Test func writesByItselfAndAppends() throws {
    let folder = try TemporaryFolder()
    try folder.write("before\n", to: "a.log")
    let sink = try LogSink(.file(path: folder.file("a.log")), delay: .milliseconds(1))
    sink.write(line: "after")
    // Nobody flushes.
    for _ in 0..<1_000 where try folder.read("a.log") == "before\n" { usleep(10_000) }
    #expect(try folder.read("a.log") == "before\nafter\n")
    sink.write(line: "last")
    for _ in 0..<1_000 where try folder.read("a.log") == "before\nafter\n" { usleep(10_000) }
    #expect(try folder.read("a.log") == "before\nafter\nlast\n")
  }

  @Test func keepsItsBoundAndCountsWhatItDrops() throws {
    let folder = try TemporaryFolder()
    let sink = try LogSink(.file(path: folder.file("b.log")), limit: 20, delay: .seconds(3_600))
    for number in 1...7 { sink.write(line: "line \(number)") }
    #expect(sink.dropped == 5)
    let block = ByteBuffer("a much too long block\nof lines\n".utf8)
    sink.write(block.span, lines: 2)
    #expect(sink.dropped == 7)
    sink.flush()
    #expect(try folder.read("b.log") == "line 1\nline 2\n")
    sink.write(line: "room again")
    sink.flush()
    #expect(try folder.read("b.log") == "line 1\nline 2\nroom again\n")
  }

  @Test func aFailingTargetIsCounted() throws {
    guard access("/dev/full", W_OK) == 0 else { return }
    let sink = try LogSink(.file(path: "/dev/full"), delay: .seconds(3_600))
    sink.write(line: "one")
    sink.write(line: "two")
    sink.flush()
    #expect(sink.dropped == 2)
  }

  @Test func writesWhatIsLeftAtItsEnd() throws {
    let folder = try TemporaryFolder()
    do {
      let sink = try LogSink(.file(path: folder.file("c.log")), delay: .seconds(3_600))
      sink.write(line: "left")
    }
    #expect(try folder.read("c.log") == "left\n")
  }

  @Test func aFileThatCannotBeOpenedIsAnErrorAndAReopenKeepsTheOldOne() throws {
    let folder = try TemporaryFolder()
    #expect(throws: SystemError(call: "open", code: ENOENT)) {
      _ = try LogSink(.file(path: folder.file("none/d.log")))
    }
    try folder.makeFolder("logs")
    let sink = try LogSink(.file(path: folder.file("logs/d.log")))
    try folder.move("logs", to: "gone")
    #expect(throws: SystemError(call: "open", code: ENOENT)) { try sink.reopen() }
    sink.write(line: "still here")
    sink.flush()
    #expect(try folder.read("gone/d.log") == "still here\n")
  }

  @Test func linesOfManyThreadsStayWhole() throws {
    let folder = try TemporaryFolder()
    let sink = try LogSink(.file(path: folder.file("e.log")), delay: .zero)
    let threads = try (0..<4).map { thread in
      try LoopThread.start(name: "log") {
        for number in 0..<1_000 { sink.write(line: "\(thread) \(number)") }
      }
    }
    for thread in threads { thread.join() }
    sink.flush()
    let lines = try folder.read("e.log").split(separator: "\n").map(String.init)
    #expect(lines.count == 4_000)
    for thread in 0..<4 {
      #expect(lines.filter { $0.hasPrefix("\(thread) ") } == (0..<1_000).map { "\(thread) \($0)" })
    }
  }
}
