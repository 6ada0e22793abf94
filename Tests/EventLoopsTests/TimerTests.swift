import RandomnessTestSupport
import Testing

@testable import EventLoops

@Suite struct TimerTests {
  @Test func firesByTimeAndThenByTheOrderOfSetting() throws {
    var fired: [Int] = []
    try withLoop { loop in
      let start = loop.now
      // Three of each time, set in another order.
      let timers = [40, 10, 30, 10, 40, 20, 10, 20, 30].enumerated().map { index, milliseconds in
        let timer = Timer(loop: loop) {
          fired.append(index)
          if fired.count == 9 { loop.stop() }
        }
        timer.schedule(at: start + .milliseconds(milliseconds))
        return timer
      }
      loop.run()
      #expect(timers.allSatisfy { !$0.isScheduled && $0.deadline == nil })
    }
    #expect(fired == [1, 3, 6, 5, 7, 2, 8, 0, 4])
  }

  @Test func cancelledAndDroppedTimersDoNotFire() throws {
    var fired: [String] = []
    try withLoop { loop in
      let cancelled = Timer(loop: loop) { fired.append("cancelled") }
      cancelled.schedule(after: .milliseconds(5))
      cancelled.cancel()
      var dropped: Timer? = Timer(loop: loop) { fired.append("dropped") }
      dropped?.schedule(after: .milliseconds(5))
      dropped = nil
      let revived = Timer(loop: loop) { fired.append("revived") }
      revived.schedule(after: .milliseconds(1))
      revived.cancel()
      revived.schedule(after: .milliseconds(7))
      let last = Timer(loop: loop) { loop.stop() }
      last.schedule(after: .milliseconds(10))
      loop.run()
      #expect(!cancelled.isScheduled && !revived.isScheduled && !last.isScheduled)
    }
    #expect(fired == ["revived"])
  }

  @Test func anActionMaySetItselfAgainAndTouchOthers() throws {
    var fired: [String] = []
    try withLoop { loop in
      final class Timers {
        var again: Timer?
        var victim: Timer?
        var moved: Timer?
        var rounds = 0
      }
      let timers = Timers()
      let start = loop.now
      timers.victim = Timer(loop: loop) { fired.append("victim") }
      timers.moved = Timer(loop: loop) {
        fired.append("moved")
        loop.stop()
      }
      timers.again = Timer(loop: loop) { [unowned timers] in
        timers.rounds += 1
        fired.append("again \(timers.rounds)")
        timers.victim?.cancel()
        timers.moved?.schedule(at: timers.rounds < 3 ? .distantFuture : start + .milliseconds(6))
        if timers.rounds == 2 { timers.victim = nil }
        if timers.rounds < 3 { timers.again?.schedule(after: .milliseconds(1)) } else { timers.again = nil }
      }
      timers.again?.schedule(at: start + .milliseconds(5))
      // All due at the same moment as the one that changes them.
      timers.victim?.schedule(at: start + .milliseconds(5))
      timers.moved?.schedule(at: start + .milliseconds(5))
      loop.run()
    }
    #expect(fired == ["again 1", "again 2", "again 3", "moved"])
  }

  @Test func aTimerThatIsAlwaysDueStarvesNobody() throws {
    var others: [String] = []
    try withLoop { loop in
      let pair = try Pair()
      var greedy: Timer?
      greedy = Timer(loop: loop) { greedy?.schedule(at: Instant(nanoseconds: 0)) }
      greedy?.schedule(at: Instant(nanoseconds: 0))
      let polite = Timer(loop: loop) {
        others.append("timer")
        pair.left.shutdownWriting()
      }
      polite.schedule(after: .milliseconds(5))
      var registration: Registration?
      registration = try loop.register(
        pair.right.descriptor, .readable,
        handler: Watch { _ in
          others.append("socket")
          if let registration { loop.deregister(registration) }
          loop.stop()
        })
      loop.run()
      greedy = nil
      #expect(!polite.isScheduled)
    }
    #expect(others == ["timer", "socket"])
  }

  @Test func tenThousandTimersFireInOrder() throws {
    var fired: [Int] = []
    var generator = SeededGenerator(seed: 7)
    let times = (0..<10_000).map { _ in Int.random(in: 0..<50_000, using: &generator) }
    try withLoop { loop in
      let start = loop.now
      var timers: [Timer] = []
      for (index, time) in times.enumerated() {
        timers.append(
          Timer(loop: loop) {
            fired.append(index)
            if fired.count == times.count { loop.stop() }
          })
        timers[index].schedule(at: start + .microseconds(time))
      }
      loop.run()
    }
    #expect(fired == times.indices.sorted { (times[$0], $0) < (times[$1], $1) })
  }

  /// Random settings, cancels and ends of timers, with a clock of our own, against a plain list.
  @Test(arguments: 1...20) func agreesWithAPlainList(seed: UInt64) throws {
    let loop = try EventLoop(name: "model", mailbox: Mailbox())
    let queue = loop.timers
    queue.now = Instant(nanoseconds: 1_000)
    var generator = SeededGenerator(seed: seed)
    var timers: [Timer?] = (0..<40).map { _ in Timer(loop: loop) {} }
    var model: [Int: (UInt64, Int)] = [:]
    var order = 0
    for _ in 0..<3_000 {
      let index = Int.random(in: 0..<timers.count, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<6:
        let time = queue.now.nanoseconds + UInt64.random(in: 0..<500, using: &generator)
        timers[index]?.schedule(at: Instant(nanoseconds: time))
        order += 1
        model[index] = (time, order)
      case 6:
        timers[index]?.cancel()
        model[index] = nil
      case 7:
        timers[index] = Timer(loop: loop) {}
        model[index] = nil
      default:
        queue.now = queue.now + .nanoseconds(Int64.random(in: 0..<60, using: &generator))
        #expect(queue.nextDeadline()?.nanoseconds == model.values.map { $0.0 }.min())
        var fired: [ObjectIdentifier] = []
        while let timer = queue.takeDue(armedBefore: queue.sequence) { fired.append(ObjectIdentifier(timer)) }
        let due = model.filter { $0.value.0 <= queue.now.nanoseconds }.sorted { $0.value < $1.value }.map(\.key)
        #expect(fired == due.compactMap { timers[$0].map(ObjectIdentifier.init) })
        for index in due { model[index] = nil }
      }
    }
    timers.removeAll()
    #expect(queue.nextDeadline() == nil)
  }
}
