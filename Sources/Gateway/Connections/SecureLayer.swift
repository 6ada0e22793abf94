import Bytes
import EventLoops
import TransportSecurity

/// Moves the records of a TLS session over a socket.
///
/// The session reads and writes the loop's big buffers, lent for as long as there is something in them: one system
/// call brings or takes several records, and an idle connection holds none. All that was received is decrypted before
/// a read returns, so that nothing waits where epoll does not see it.
struct SecureLayer {
  let session: SecureSession
  private unowned let loop: EventLoop
  /// Bytes at the front of what is written that are encrypted already. They are consumed when their records have left,
  /// so that whoever writes sees by its own buffer that something is left.
  private var encrypted = 0
  /// What is encrypted at once: fits into a lent buffer with the heads of its records.
  private static let piece = 62 << 10
  /// Room for the plain bytes of what one read brings.
  private static let readSize = 64 << 10
  /// Records of the protocol itself that may wait for a peer that does not read.
  private static let maximumUnsent = 128 << 10

  init(session: SecureSession, loop: EventLoop) {
    self.session = session
    self.loop = loop
  }

  // MARK: Opening

  mutating func open(_ socket: borrowing Socket) -> Transport.Opening {
    while true {
      let progress = session.handshake()
      if let error = send(socket) { return .failed(.system(error)) }
      switch progress {
      case .done: return session.outgoing.isEmpty ? .done : .writes
      case .failed(let error): return .failed(.security(error))
      case .needsInput: break
      }
      if !session.outgoing.isEmpty { return .writes }
      switch receive(socket) {
      case .transferred, .closed: break
      case .wouldBlock: return .reads
      case .failed(let error): return .failed(.system(error))
      }
    }
  }

  // MARK: Reading

  var hasUnread: Bool { session.isEndPending || !session.incoming.isEmpty }

  mutating func read(_ socket: borrowing Socket, into buffer: inout ByteBuffer) -> Transport.Outcome {
    var total = 0
    while true {
      var mayHaveMore = false
      var last = Transport.Outcome.wouldBlock
      if !hasUnread {
        switch receive(socket) {
        case .transferred(let count): mayHaveMore = count >= Self.readSize
        case .closed: break
        case .wouldBlock: return total > 0 ? .transferred(total) : .wouldBlock
        case .failed(let error): return total > 0 ? .transferred(total) : .failed(.system(error))
        }
      }
      switch session.read(into: &buffer) {
      case .data(let count):
        total += count
        last = .transferred(total)
      case .needsInput: if total > 0 { last = .transferred(total) }
      case .ended: last = total > 0 ? .transferred(total) : .closed
      case .failed(let error): last = total > 0 ? .transferred(total) : .failed(.security(error))
      }
      giveBackInput()
      // Answers to what the peer's session said, or the alert. What cannot leave now goes with the next write.
      if !session.outgoing.isEmpty {
        _ = send(socket)
        if session.outgoing.count > Self.maximumUnsent {
          return .failed(.security(TLSError(.protocol, "the peer does not read what its session asks for")))
        }
      }
      let isRoomLeft = buffer.capacity - buffer.count >= Self.readSize
      if !mayHaveMore || !isRoomLeft || session.isEndPending { return last }
    }
  }

  /// One read of the socket into a lent buffer.
  private func receive(_ socket: borrowing Socket) -> Socket.Outcome {
    if session.incoming.capacity == 0 { session.incoming = loop.buffers.take() }
    let outcome = socket.read(into: &session.incoming, room: 1)
    if case .closed = outcome { session.inputEnded() }
    giveBackInput()
    return outcome
  }

  private func giveBackInput() {
    guard session.incoming.isEmpty, session.incoming.capacity > 0 else { return }
    loop.buffers.give(Self.taken(&session.incoming))
  }

  // MARK: Writing

  mutating func write(_ socket: borrowing Socket, from buffer: inout ByteBuffer) -> Transport.Outcome {
    var consumed = 0
    var hasMoved = false
    while true {
      let before = session.outgoing.count
      if let error = send(socket) { return .failed(.system(error)) }
      if session.outgoing.count < before { hasMoved = true }
      if !session.outgoing.isEmpty { return hasMoved ? .transferred(consumed) : .wouldBlock }
      let done = min(encrypted, buffer.count)
      buffer.consume(done)
      consumed += done
      encrypted = 0
      if buffer.isEmpty { return .transferred(consumed) }
      let count = min(buffer.count, Self.piece)
      session.outgoing = loop.buffers.take()
      do throws(TLSError) {
        try session.write(from: buffer, count)
      } catch {
        giveBackOutput()
        return .failed(.security(error))
      }
      encrypted = count
    }
  }

  /// One write of what is encrypted.
  private func send(_ socket: borrowing Socket) -> SystemError? {
    guard !session.outgoing.isEmpty else { return nil }
    if case .failed(let error) = socket.write(from: &session.outgoing) { return error }
    if session.outgoing.isEmpty { giveBackOutput() }
    return nil
  }

  private func giveBackOutput() {
    loop.buffers.give(Self.taken(&session.outgoing))
  }

  // MARK: Ending

  /// Says that nothing more will be sent, if everything was.
  func end(_ socket: borrowing Socket) {
    guard session.outgoing.isEmpty else { return }
    session.end()
    _ = send(socket)
  }

  /// Gives lent memory back.
  func release() {
    loop.buffers.give(Self.taken(&session.incoming))
    loop.buffers.give(Self.taken(&session.outgoing))
  }

  private static func taken(_ buffer: inout ByteBuffer) -> ByteBuffer {
    var taken = ByteBuffer()
    swap(&taken, &buffer)
    return taken
  }
}
