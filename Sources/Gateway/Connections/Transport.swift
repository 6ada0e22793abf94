import Bytes
import EventLoops
import TransportSecurity

/// The byte stream under an HTTP connection: a socket, or TLS over one where a listener or an upstream asks for it.
///
/// Owns its descriptor. Reads and writes never block and move what they can, as ``Socket`` does.
struct Transport: ~Copyable {
  /// What one read or write did.
  enum Outcome {
    /// That many bytes were moved; 0 when bytes went over the wire of which none is done with.
    case transferred(Int)
    /// Nothing to read, or no room to write: wait for readiness.
    case wouldBlock
    /// The peer ended its direction (reads only).
    case closed
    case failed(TransportError)
  }

  /// How far the opening has come.
  enum Opening {
    case done
    /// Go on when it is readable.
    case reads
    /// Go on when it is writable.
    case writes
    case failed(TransportError)
  }

  private let socket: Socket
  private var secure: SecureLayer?
  private var isReset = false

  /// Bytes as they are.
  init(_ socket: consuming Socket) { self.socket = socket }

  /// TLS: to be opened with ``open()`` before anything is read or written.
  init(_ socket: consuming Socket, _ session: SecureSession, on loop: EventLoop) {
    self.socket = socket
    secure = SecureLayer(session: session, loop: loop)
  }

  deinit {
    if !isReset { secure?.end(socket) }
    secure?.release()
  }

  var descriptor: CInt { socket.descriptor }

  /// Takes the handshake as far as it goes.
  mutating func open() -> Opening { secure?.open(socket) ?? .done }

  mutating func read(into buffer: inout ByteBuffer, room: Int) -> Outcome {
    secure?.read(socket, into: &buffer) ?? Outcome(socket.read(into: &buffer, room: room))
  }

  /// Consumes what is done with.
  mutating func write(from buffer: inout ByteBuffer) -> Outcome {
    secure?.write(socket, from: &buffer) ?? Outcome(socket.write(from: &buffer))
  }

  /// Whether the next read has something to tell without the socket, so that no readiness will announce it.
  var hasUnread: Bool { secure?.hasUnread ?? false }

  /// Moves bytes into a pipe, from which another transport takes them; see ``SplicePipe``.
  mutating func splice(into pipe: SplicePipe, limit: Int) -> Outcome { Outcome(pipe.fill(from: socket, limit: limit)) }

  /// Sends what is in a pipe, as far as it goes.
  mutating func send(from pipe: SplicePipe) -> Outcome { Outcome(pipe.drain(into: socket)) }

  /// Whether bytes may go through a pipe: nothing has to be done to them on the way.
  var isSpliceable: Bool { secure == nil }

  /// Nothing more will be sent; the peer may still send.
  mutating func shutdownWriting() {
    secure?.end(socket)
    socket.shutdownWriting()
  }

  /// The end of the connection will be a reset: what was sent is not to be taken for whole.
  mutating func resetAtEnd() {
    isReset = true
    socket.resetAtEnd()
  }

  /// Why a connection could not be opened, once it is ready for writing.
  func takeError() -> SystemError? { socket.takeError() }

  // MARK: TLS

  /// What ALPN agreed on; nil when it was not used, or there is no TLS.
  var negotiatedProtocol: String? { secure?.session.negotiatedProtocol }

  /// Of a listener: the names of the certificate that the client was shown; nil without TLS.
  var certificateNames: CertificateNames? { secure?.session.certificateNames }

  /// Of a listener: who the client is by its certificate, if it has shown one.
  var clientIdentity: ClientIdentity? { secure?.session.clientIdentity }

  /// Answers in the clear, to who does not speak TLS.
  func writeInTheClear(_ text: StaticString) {
    var answer = ByteBuffer()
    answer.append(text)
    _ = socket.write(from: &answer)
  }
}

/// Why a transport failed.
enum TransportError: Error, CustomStringConvertible {
  case system(SystemError)
  case security(TLSError)

  var description: String {
    switch self {
    case .system(let error): error.description
    case .security(let error): "TLS: \(error.reason)"
    }
  }
}

extension Transport.Outcome {
  init(_ outcome: Socket.Outcome) {
    self =
      switch outcome {
      case .transferred(let count): .transferred(count)
      case .wouldBlock: .wouldBlock
      case .closed: .closed
      case .failed(let error): .failed(.system(error))
      }
  }
}
