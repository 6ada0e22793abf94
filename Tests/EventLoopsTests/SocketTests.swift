import Bytes
import CLinux
import Glibc
import Testing

@testable import EventLoops

@Suite struct SocketTests {
  private func loopback() throws -> SocketAddress { try #require(SocketAddress(host: "127.0.0.1", port: 0)) }

  private func option(_ descriptor: CInt, _ level: CInt, _ name: CInt) -> CInt {
    var value: CInt = -1
    var length = socklen_t(4)
    getsockopt(descriptor, level, name, &value, &length)
    return value
  }

  @Test func writesInPartsWhatThePeerIsSlowToRead() throws {
    let bytes = pattern(1_500_000)
    var sent = ByteBuffer(bytes[..<500_000])
    var rest = ByteBuffer(bytes[500_000...])
    var received = ByteBuffer()
    var partial = 0
    var blocked = 0
    try withLoop { loop in
      let pair = try Pair()
      let writer = Box<Registration?>(nil)
      let reader = Box<Registration?>(nil)
      writer.value = try loop.register(
        pair.left.descriptor, .writable,
        handler: Watch { _ in
          while true {
            let waiting = sent.count + rest.count
            let outcome = pair.left.write(from: &sent, then: &rest)
            if case .transferred(let count) = outcome {
              #expect(waiting - count == sent.count + rest.count)
              if count < waiting { partial += 1 }
              if waiting > count { continue }
              pair.left.shutdownWriting()
              if let registration = writer.value { loop.deregister(registration) }
            } else {
              #expect(outcome == .wouldBlock)
              blocked += 1
            }
            break
          }
          // The reader starts only when the socket has filled up.
          if let registration = reader.value { loop.change(registration, to: .readable) }
        })
      reader.value = try loop.register(
        pair.right.descriptor, [],
        handler: Watch { _ in
          if pair.right.read(into: &received, room: 65_536) == .closed {
            if let registration = reader.value { loop.deregister(registration) }
            loop.stop()
          }
        })
      loop.run()
      keep(pair)
    }
    #expect(partial > 0)
    #expect(blocked > 0)
    #expect(received.bytes == bytes)
  }

  @Test func writesOfOneAndOfTwoBuffersConsumeWhatWasTaken() throws {
    let pair = try Pair()
    var first = ByteBuffer("head".utf8)
    var second = ByteBuffer("body".utf8)
    var outcome = pair.left.write(from: &first, then: &second)
    #expect(outcome == .transferred(8))
    let isConsumed = first.isEmpty && second.isEmpty
    #expect(isConsumed)
    outcome = pair.left.write(from: &first)
    #expect(outcome == .transferred(0))
    outcome = pair.left.write(from: &first, then: &second)
    #expect(outcome == .transferred(0))
    second.append("more")
    outcome = pair.left.write(from: &first, then: &second)
    #expect(outcome == .transferred(4))
    first.append("!")
    outcome = pair.left.write(from: &first, then: &second)
    #expect(outcome == .transferred(1))
    var received = ByteBuffer()
    outcome = pair.right.read(into: &received, room: 100)
    #expect(outcome == .transferred(13))
    #expect(received.bytes == Array("headbodymore!".utf8))
    outcome = pair.right.read(into: &received, room: 100)
    #expect(outcome == .wouldBlock)
    keep(pair)
  }

  @Test func aWriteToAPeerThatLeftFailsWithoutASignal() throws {
    let pair = try Pair()
    shutdown(pair.right.descriptor, CInt(SHUT_RD))
    var bytes = ByteBuffer([1])
    let outcome = pair.left.write(from: &bytes)
    #expect(outcome == .failed(SystemError(call: "send", code: EPIPE)))
    #expect(bytes.bytes == [1])
    keep(pair)
  }

  @Test func aRefusedConnectionIsAnErrorOfTheSocket() throws {
    // A port that was free a moment ago.
    let address = try ListeningSocket(address: loopback()).address
    var refusal: SystemError?
    try withLoop { loop in
      do throws(SystemError) {
        let socket = try Socket.connect(to: address)
        let registration = try loop.register(socket.descriptor, .writable, handler: Watch { _ in loop.stop() })
        loop.run()
        refusal = socket.takeError()
        #expect(socket.takeError() == nil)
        loop.deregister(registration)
      } catch {
        refusal = error
        loop.stop()
      }
    }
    #expect(refusal?.code == ECONNREFUSED)
    #expect(refusal?.reason == "Connection refused")
  }

  @Test func aTakenPortIsAnError() throws {
    let listener = try ListeningSocket(address: loopback())
    #expect(listener.address.port != 0)
    #expect(throws: SystemError(call: "cannot listen on \(listener.address.text)", code: EADDRINUSE)) {
      _ = try ListeningSocket(address: listener.address)
    }
    #expect(listener.address.host == "127.0.0.1")
  }

  @Test func acceptedSocketsDoNotBlockNorDelayNorLeak() throws {
    let listener = try ListeningSocket(address: loopback())
    let client = try Socket.connect(to: listener.address)
    guard case .socket(let accepted, let peer) = listener.accept() else {
      Issue.record("no connection")
      return
    }
    #expect(fcntl(accepted.descriptor, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(accepted.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    #expect(option(accepted.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY) != 0)
    #expect(option(client.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY) != 0)
    let local = client.localAddress
    let remote = client.peerAddress
    #expect(peer == local)
    #expect(remote == listener.address)
    let isIdle = if case .wouldBlock = listener.accept() { true } else { false }
    #expect(isIdle)
  }

  @Test func aSocketClosesItsDescriptorOnceAndAReleasedOneNever() throws {
    let descriptor: CInt
    do {
      let pair = try Pair()
      descriptor = pair.left.descriptor
      #expect(fcntl(descriptor, F_GETFD) >= 0)
      keep(pair)
    }
    let released = try Socket.connect(to: ListeningSocket(address: loopback()).address).release()
    #expect(fcntl(released, F_GETFD) >= 0)
    close(released)
  }

  @Test func aResetTellsThePeer() throws {
    let listener = try ListeningSocket(address: loopback())
    var failure: SystemError?
    try withLoop { loop in
      let client = try Socket.connect(to: listener.address)
      guard case .socket(let accepted, _) = listener.accept() else {
        Issue.record("no connection")
        loop.stop()
        return
      }
      accepted.resetAtEnd()
      _ = consume accepted
      let registration = try loop.register(client.descriptor, .readable, handler: Watch { _ in loop.stop() })
      loop.run()
      var bytes = ByteBuffer()
      if case .failed(let error) = client.read(into: &bytes, room: 10) { failure = error }
      loop.deregister(registration)
    }
    #expect(failure?.code == ECONNRESET)
  }

  /// In a process of its own: the limit would hit the other tests.
  @Test func runningOutOfDescriptorsIsAnOutcomeOfItsOwn() async {
    await #expect(processExitsWith: .success) {
      let address = try #require(SocketAddress(host: "127.0.0.1", port: 0))
      let listener = try ListeningSocket(address: address)
      let client = try Socket.connect(to: listener.address)
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var usual = rlimit()
      #expect(getrlimit(files, &usual) == 0)
      // Below what is open, so that it does not matter what else comes and goes.
      var none = rlimit(rlim_cur: 0, rlim_max: usual.rlim_max)
      #expect(setrlimit(files, &none) == 0)
      let isOut = if case .outOfDescriptors = listener.accept() { true } else { false }
      #expect(isOut)
      do throws(SystemError) {
        _ = try Socket.connect(to: listener.address)
        Issue.record("connected without a descriptor")
      } catch {
        #expect(error.isOutOfDescriptors)
      }
      // The connection is still there when room comes back.
      #expect(setrlimit(files, &usual) == 0)
      let isTaken = if case .socket = listener.accept() { true } else { false }
      #expect(isTaken)
      #expect(client.takeError() == nil)
    }
  }
}
