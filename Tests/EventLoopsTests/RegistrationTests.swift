import Bytes
import Glibc
import Testing

@testable import EventLoops

@Suite struct RegistrationTests {
  /// Two sockets are ready in one tick; whichever is told first ends the other's registration and gives its slot to a
  /// third, quiet socket. Nobody may then be told of the event that the kernel has already reported.
  @Test func anEventOfAnEarlierUseOfASlotIsDropped() throws {
    var told: [String] = []
    try withLoop { loop in
      let first = try Pair()
      let second = try Pair()
      let quiet = try Pair()
      let registrations = Box<[Registration]>([])
      let reused = Box<Registration?>(nil)
      var last: Timer?
      func meet(_ own: Int, _ other: Int) {
        told.append("one of two")
        loop.deregister(registrations.value[other])
        loop.deregister(registrations.value[own])
        // Last freed, first used: both slots are used again.
        for descriptor in [quiet.left.descriptor, quiet.right.descriptor] {
          reused.value = try? loop.register(
            descriptor, .readable, handler: Watch { _ in told.append("stale") })
        }
        #expect(loop.registrations == 2)
        let timer = Timer(loop: loop) { loop.stop() }
        last = timer
        timer.schedule(after: .milliseconds(5))
      }
      registrations.value = [
        try loop.register(first.left.descriptor, .readable, handler: Watch { _ in meet(0, 1) }),
        try loop.register(second.left.descriptor, .readable, handler: Watch { _ in meet(1, 0) }),
      ]
      first.right.shutdownWriting()
      second.right.shutdownWriting()
      loop.run()
      keep(first)
      keep(second)
      keep(quiet)
      #expect(last?.isScheduled == false)
      #expect(reused.value.map { registrations.value.map(\.slot).contains($0.slot) } == true)
      #expect(reused.value.map { registrations.value.contains($0) } == false)
    }
    #expect(told == ["one of two"])
  }

  @Test func whatIsNotHandledIsToldAgainUntilTheInterestChanges() throws {
    var told: [Readiness] = []
    try withLoop { loop in
      let pair = try Pair()
      let registration = Box<Registration?>(nil)
      var last: Timer?
      registration.value = try loop.register(
        pair.left.descriptor, .readable,
        handler: Watch { readiness in
          guard let registration = registration.value else { return }
          told.append(readiness)
          if told.count == 3 { loop.change(registration, to: .writable) }
          if told.count == 4 { loop.change(registration, to: [.readable, .writable]) }
          if told.count == 5 {
            loop.change(registration, to: [])
            let timer = Timer(loop: loop) { loop.stop() }
            timer.schedule(after: .milliseconds(5))
            last = timer
          }
        })
      sendByte(pair.right)
      loop.run()
      keep(pair)
      #expect(last != nil)
    }
    #expect(told == [.readable, .readable, .readable, .writable, [.readable, .writable]])
  }

  @Test func anEndOfThePeerIsToldToThoseWhoDoNotRead() throws {
    var told: [Readiness] = []
    try withLoop { loop in
      let pair = try Pair()
      let registration = Box<Registration?>(nil)
      registration.value = try loop.register(
        pair.left.descriptor, .peerClosed,
        handler: Watch { readiness in
          told.append(readiness)
          if let registration = registration.value { loop.deregister(registration) }
          loop.stop()
        })
      sendByte(pair.right)
      pair.right.shutdownWriting()
      loop.run()
      keep(pair)
    }
    #expect(told == [.peerClosed])
  }

  @Test func anExclusiveRegistrationCanPauseAndGoOn() throws {
    let listener = try ListeningSocket(address: try #require(SocketAddress(host: "127.0.0.1", port: 0)))
    let client = try Socket.connect(to: listener.address)
    var steps: [String] = []
    try withLoop { loop in
      let registration = Box<Registration?>(nil)
      var timer: Timer?
      registration.value = try loop.register(
        listener.descriptor, .readable, exclusive: true,
        handler: Watch { _ in
          guard let registration = registration.value else { return }
          if steps.isEmpty {
            steps.append("paused")
            #expect(loop.change(registration, to: []))
            timer?.schedule(after: .milliseconds(5))
          } else {
            steps.append("told again")
            loop.deregister(registration)
            loop.stop()
          }
        })
      timer = Timer(loop: loop) {
        steps.append("goes on")
        if let registration = registration.value { #expect(loop.change(registration, to: .readable)) }
      }
      loop.run()
      timer = nil
    }
    #expect(steps == ["paused", "goes on", "told again"])
    #expect(client.takeError() == nil)
  }

  @Test func aHandlerLivesAsLongAsItsRegistration() throws {
    weak var handler: Watch?
    try withLoop { loop in
      let pair = try Pair()
      let registration = try {
        let made = Watch { _ in }
        handler = made
        return try loop.register(pair.left.descriptor, .readable, handler: made)
      }()
      #expect(handler != nil)
      loop.deregister(registration)
      #expect(handler == nil)
      // Over: nothing happens, also for whoever has the slot now.
      loop.deregister(registration)
      #expect(loop.change(registration, to: .writable))
      #expect(loop.registrations == 0)
      loop.stop()
    }
  }

  @Test func aClosedDescriptorIsRefused() throws {
    try withLoop { loop in
      #expect(throws: SystemError(call: "epoll_ctl", code: EBADF)) {
        _ = try loop.register(1_000_000, .readable, handler: Watch { _ in })
      }
      #expect(loop.registrations == 0)
      loop.stop()
    }
  }

  @Test func flushesOnceAfterTheEventsOfATick() throws {
    final class Flusher: TickFlushing {
      var action: () -> Void = {}
      func flush() { action() }
    }
    var steps: [String] = []
    try withLoop { loop in
      let outer = Flusher()
      let inner = Flusher()
      outer.action = {
        steps.append("outer")
        loop.flushAtTickEnd(inner)
      }
      var rounds = 0
      inner.action = {
        steps.append("inner")
        rounds += 1
        // More rounds than one tick has.
        if rounds < 10 { loop.flushAtTickEnd(inner) } else { loop.stop() }
      }
      let timers = ["first", "second"].map { name in
        let timer = Timer(loop: loop) {
          steps.append(name)
          if name == "first" { loop.flushAtTickEnd(outer) }
        }
        timer.schedule(at: loop.now)
        return timer
      }
      loop.run()
      inner.action = {}
      #expect(timers.count == 2)
    }
    #expect(steps == ["first", "second", "outer"] + Array(repeating: "inner", count: 10))
  }

  private func sendByte(_ socket: borrowing Socket) {
    var byte = ByteBuffer([7])
    let outcome = socket.write(from: &byte)
    #expect(outcome == .transferred(1))
  }
}

/// A variable that closures share.
final class Box<Value> {
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}
