import Bytes
import Dispatch
import Glibc
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

/// Counts, and lets a test wait for the next one.
final class Bell: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func ring() { semaphore.signal() }

  /// - Returns: false when nothing came for half a minute.
  func wait() -> Bool { semaphore.wait(timeout: .now() + .seconds(30)) == .success }

  /// Whether one more comes within a moment. True is a failure for certain; false is none.
  func ringsAgain() -> Bool { semaphore.wait(timeout: .now() + .milliseconds(150)) == .success }
}

@Suite struct FileWatcherTests {
  private func watch(_ folder: TemporaryFolder, _ names: [String], _ bell: Bell) throws -> FileWatcher {
    try FileWatcher(files: names.map(folder.file), settle: .milliseconds(20)) { bell.ring() }
  }

  @Test func seesARenameOverTheFileAndAWriteInPlace() throws {
    let folder = try TemporaryFolder()
    try folder.write("old", to: "gateway.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["gateway.yaml"], bell)
    try folder.write("new", to: "gateway.yaml.tmp")
    try folder.move("gateway.yaml.tmp", to: "gateway.yaml")
    #expect(bell.wait())
    try folder.write("newer", to: "gateway.yaml")
    #expect(bell.wait())
    // Another file of the folder is nobody's concern.
    try folder.write("x", to: "other.yaml")
    #expect(!bell.ringsAgain())
    withExtendedLifetime(watcher) {}
  }

  @Test func seesASwapOfALinkedFolder() throws {
    let folder = try TemporaryFolder()
    // As a mounted ConfigMap: file -> ..data/file, ..data -> a folder by date.
    try folder.makeFolder("..2026_1")
    try folder.write("old", to: "..2026_1/gateway.yaml")
    try folder.link("..data", to: "..2026_1")
    try folder.link("gateway.yaml", to: "..data/gateway.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["gateway.yaml"], bell)
    for round in 2...3 {
      try folder.makeFolder("..2026_\(round)")
      try folder.write("new", to: "..2026_\(round)/gateway.yaml")
      try folder.link("..data_tmp", to: "..2026_\(round)")
      try folder.move("..data_tmp", to: "..data")
      #expect(bell.wait(), "round \(round)")
    }
    withExtendedLifetime(watcher) {}
  }

  @Test func followsALinkIntoAnotherFolder() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("near")
    try folder.makeFolder("far")
    try folder.write("old", to: "far/real.yaml")
    try folder.link("near/gateway.yaml", to: "../far/real.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["near/gateway.yaml"], bell)
    try folder.write("new", to: "far/real.tmp")
    try folder.move("far/real.tmp", to: "far/real.yaml")
    #expect(bell.wait())
    withExtendedLifetime(watcher) {}
  }

  @Test func seesAFileComeAndGoEvenWithItsFolder() throws {
    let folder = try TemporaryFolder()
    let bell = Bell()
    let watcher = try watch(folder, ["routes/a.yaml"], bell)
    try folder.makeFolder("routes")
    try folder.write("a", to: "routes/a.yaml")
    #expect(bell.wait())
    try folder.move("routes", to: "away")
    #expect(bell.wait())
    withExtendedLifetime(watcher) {}
  }

  @Test func watchesOtherFilesWhenTold() throws {
    let folder = try TemporaryFolder()
    try folder.write("a", to: "a.yaml")
    try folder.write("b", to: "b.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["a.yaml"], bell)
    watcher.watch([folder.file("b.yaml")])
    try folder.write("aa", to: "a.yaml")
    #expect(!bell.ringsAgain())
    try folder.write("bb", to: "b.yaml")
    #expect(bell.wait())
  }

  @Test func aLoopOfLinksEnds() throws {
    let folder = try TemporaryFolder()
    try folder.link("a", to: "b")
    try folder.link("b", to: "a")
    #expect(WatchedFolders.folders(of: folder.file("a/x.yaml")).contains(folder.path))
  }
}

@Suite(.serialized) struct SignalWatcherTests {
  @Test func tellsTheNumberOfEachSignal() throws {
    let first = Bell()
    let second = Bell()
    let queue = DispatchQueue(label: "signals")
    let watcher = try SignalWatcher([SIGUSR1, SIGUSR2], queue: queue) { number in
      (number == SIGUSR1 ? first : second).ring()
    }
    kill(getpid(), SIGUSR2)
    #expect(second.wait())
    kill(getpid(), SIGUSR1)
    #expect(first.wait())
    kill(getpid(), SIGUSR1)
    #expect(first.wait())
    #expect(!second.ringsAgain())
    withExtendedLifetime(watcher) {}
  }

  @Test func aNumberThatCannotBeCaughtIsAnError() {
    for number in [SIGKILL, 0, 65] {
      #expect(throws: SystemError(call: "sigaction", code: EINVAL)) {
        _ = try SignalWatcher([number], queue: .main) { _ in }
      }
    }
  }

  @Test func anEndedWatcherLeavesTheDefault() async {
    await #expect(processExitsWith: .signal(SIGUSR1)) {
      do {
        let watcher = try SignalWatcher([SIGUSR1], queue: .global()) { _ in }
        withExtendedLifetime(watcher) {}
      }
      kill(getpid(), SIGUSR1)
    }
  }
}
