import Dispatch
import Glibc
import Testing

@testable import EventLoops

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
      // Another thread may be the one that gets it.
      sleep(60)
    }
  }
}
