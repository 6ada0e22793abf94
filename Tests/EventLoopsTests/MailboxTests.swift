import Glibc
import Synchronization
import Testing

@testable import EventLoops

@Suite struct MailboxTests {
  @Test func jobsFromManyThreadsAllRunInTheOrderOfEachThread() throws {
    let threads = 8
    let each = 2_000
    let seen = Mutex<[(thread: Int, number: Int)]>([])
    try withLoop { loop in
      let mailbox = loop.mailbox
      let senders = try (0..<threads).map { thread in
        try LoopThread.start(name: "sender") {
          for number in 0..<each {
            mailbox.post { loop in
              let count = seen.withLock { seen in
                seen.append((thread, number))
                return seen.count
              }
              if count == threads * each { loop.stop() }
            }
          }
        }
      }
      loop.run()
      for sender in senders { sender.join() }
    }
    let all = seen.withLock { $0 }
    #expect(all.count == threads * each)
    for thread in 0..<threads {
      #expect(all.filter { $0.thread == thread }.map(\.number) == Array(0..<each))
    }
  }

  @Test func aJobMayPostJobs() throws {
    let rounds = Mutex(0)
    @Sendable func again(_ loop: EventLoop) {
      let count = rounds.withLock { rounds in
        rounds += 1
        return rounds
      }
      if count == 100 { loop.stop() } else { loop.mailbox.post(again) }
    }
    try withLoop { $0.mailbox.post(again) }
    #expect(rounds.withLock { $0 } == 100)
  }

  @Test func anEndedLoopTakesNoJobsAndReleasesThoseLeft() throws {
    final class Witness: Sendable {}
    weak var left: Witness?
    let mailbox = try Mailbox()
    let loop = try EventLoop(name: "ended", mailbox: mailbox)
    do {
      let witness = Witness()
      left = witness
      mailbox.post { loop in
        loop.stop()
        #expect(mailbox.post { _ in _ = witness })
      }
    }
    loop.run()
    #expect(left == nil)
    #expect(!mailbox.post { _ in Issue.record("ran after the end") })
  }

  /// Whoever goes on posting to a loop that never came to be would fill the memory.
  @Test func aLoopThatCannotBeginTakesNoJobsAndReleasesThoseThatWait() throws {
    final class Witness: Sendable {}
    weak var left: Witness?
    struct Weak {
      weak var object: Witness?
    }
    let seen = Mutex(0)
    let resident = Mutex(Weak())
    let mailbox = try Mailbox()
    do {
      let witness = Witness()
      left = witness
      mailbox.post { _ in _ = witness }
    }
    let failure = SystemError(call: "begin", code: EMFILE)
    #expect(throws: failure) {
      try LoopThread.running(name: "never", mailbox: mailbox) { (loop) throws(SystemError) in
        let witness = Witness()
        loop.resident = witness
        resident.withLock { $0.object = witness }
        throw failure
      } end: { _ in
        seen.withLock { $0 += 1 }
      }
    }
    #expect(left == nil)
    #expect(resident.withLock { $0.object == nil })
    #expect(!mailbox.post { _ in Issue.record("ran without a loop") })
    #expect(seen.withLock { $0 } == 0, "it ended without a beginning")
  }

  @Test func aLoopOfAThreadBeginsBeforeItIsGivenAndEndsWithItsResident() throws {
    final class Witness: Sendable {}
    let steps = Mutex<[String]>([])
    let held = Mutex<Bool?>(nil)
    let mailbox = try Mailbox()
    let witness = Mutex<Witness?>(Witness())
    let thread = try LoopThread.running(name: "begun", mailbox: mailbox) { loop in
      loop.resident = witness.withLock { $0.take() }
      steps.withLock { $0.append("begin") }
    } end: { loop in
      held.withLock { $0 = loop.resident is Witness }
      steps.withLock { $0.append("end") }
    }
    #expect(steps.withLock { $0 } == ["begin"])
    #expect(mailbox.post { loop in loop.stop() })
    thread.join()
    #expect(steps.withLock { $0 } == ["begin", "end"])
    #expect(held.withLock { $0 } == true)
  }

  @Test func threadsHaveTheirNames() throws {
    let name = Mutex("")
    let thread = try LoopThread.start(name: "a name beyond fifteen bytes") {
      let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 32)
      let count = text.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
      name.withLock { $0 = String(decoding: text.prefix(max(0, count - 1)), as: UTF8.self) }
    }
    thread.join()
    #expect(name.withLock { $0 } == "a name beyond f")
  }
}
