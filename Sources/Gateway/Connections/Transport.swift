import Bytes
import EventLoops

/// The byte stream under an HTTP connection: a socket today, TLS over one where a listener or an upstream asks for it.
///
/// Owns its descriptor. Reads and writes never block and move what they can, as ``Socket`` does.
struct Transport: ~Copyable {
  private let socket: Socket

  init(_ socket: consuming Socket) { self.socket = socket }

  var descriptor: CInt { socket.descriptor }

  mutating func read(into buffer: inout ByteBuffer, room: Int) -> Socket.Outcome {
    socket.read(into: &buffer, room: room)
  }

  /// Consumes what was sent.
  mutating func write(from buffer: inout ByteBuffer) -> Socket.Outcome { socket.write(from: &buffer) }

  /// Moves bytes into a pipe, from which another transport takes them; see ``SplicePipe``.
  mutating func splice(into pipe: SplicePipe, limit: Int) -> Socket.Outcome { pipe.fill(from: socket, limit: limit) }

  /// Sends what is in a pipe, as far as it goes.
  mutating func send(from pipe: SplicePipe) -> Socket.Outcome { pipe.drain(into: socket) }

  /// Whether bytes may go through a pipe: nothing has to be done to them on the way.
  var isSpliceable: Bool { true }

  /// Nothing more will be sent; the peer may still send.
  mutating func shutdownWriting() { socket.shutdownWriting() }

  /// The end of the connection will be a reset: what was sent is not to be taken for whole.
  func resetAtEnd() { socket.resetAtEnd() }

  /// Why a connection could not be opened, once it is ready for writing.
  func takeError() -> SystemError? { socket.takeError() }
}
