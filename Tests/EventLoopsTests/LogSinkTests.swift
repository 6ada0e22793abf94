import Bytes
import Glibc
import EventLoopsTestSupport
import Synchronization
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

  @Test func aTargetThatFailsIsToldOfOnceAndOnceMoreWhenItWorks() throws {
    guard access("/dev/full", W_OK) == 0 else { return }
    let folder = try TemporaryFolder()
    let path = folder.file("f.log")
    try #require(symlink("/dev/full", path) == 0)
    let notices = Mutex<[LogSink.Notice]>([])
    let sink = try LogSink(.file(path: path), delay: .seconds(3_600), calm: .zero) { notice in
      notices.withLock { $0.append(notice) }
    }
    for _ in 0..<3 {
      sink.write(line: "lost")
      sink.flush()
    }
    #expect(notices.withLock { $0 } == [.fails(SystemError(call: "write", code: ENOSPC))])
    unlink(path)
    try sink.reopen()
    for _ in 0..<3 {
      sink.write(line: "kept")
      sink.flush()
    }
    #expect(notices.withLock { $0 }.dropFirst() == [.works(lost: 3)])
    #expect(try folder.read("f.log") == "kept\nkept\nkept\n")
    #expect(sink.dropped == 3)
  }

  /// A pipe that nobody empties takes a part of what is written, as a disk does that is full.
  @Test func aLineThatWasTornOffSpoilsNoOther() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    let size = Int(fcntl(reader, 1_031, 4_096))  // F_SETPIPE_SZ
    try #require(size >= 4_096)
    let sink = try LogSink(.file(path: path), delay: .seconds(3_600))
    func readAll() -> String {
      var room = [UInt8](repeating: 0, count: size * 2)
      let count = read(reader, &room, room.count)
      return String(decoding: room.prefix(max(0, count)), as: UTF8.self)
    }
    let long = String(repeating: "x", count: size - 10)
    for _ in 0..<3 { sink.write(line: long) }
    sink.flush()
    #expect(sink.dropped == 2)
    #expect(readAll() == "\(long)\n" + String(repeating: "x", count: 9))
    sink.write(line: "next")
    sink.flush()
    #expect(readAll() == "\nnext\n")
  }

  /// Whoever opens it for writing would wait for a reader, and a reload with it.
  @Test func aPipeThatNobodyReadsIsAnError() throws {
    let folder = try TemporaryFolder()
    try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
    #expect(throws: SystemError(call: "open", code: ENXIO)) { _ = try LogSink(.file(path: folder.file("pipe"))) }
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
