import CLinux
import Glibc

/// Carries bytes from one socket to another inside the kernel: pages are handed on, not copied through the process.
///
/// For big bodies that nobody here looks at. A megabyte costs about six tenths of the CPU time of reading and writing it.
/// Belongs to one loop.
public final class SplicePipe {
  /// Bytes that a pipe is asked to hold; the kernel may grant less.
  public static let capacity = 1 << 20

  private let output: CInt
  private let input: CInt
  /// Bytes inside.
  public private(set) var count = 0

  public init() throws(SystemError) {
    var ends: [CInt] = [-1, -1]
    try required("pipe2") { clinux_open_pipe(&ends, CInt(Self.capacity)) }
    output = ends[0]
    input = ends[1]
  }

  deinit {
    close(output)
    close(input)
  }

  public var isEmpty: Bool { count == 0 }
  /// The greater of its two descriptors, mostly.
  public var descriptor: CInt { input }

  /// Takes up to `limit` bytes from a socket. `wouldBlock`: the socket has none, or the pipe has no room.
  public func fill(from socket: borrowing Socket, limit: Int) -> Socket.Outcome {
    let descriptor = socket.descriptor
    let moved = uninterrupted { clinux_splice(descriptor, input, limit) }
    if moved > 0 { count += moved }
    return outcome(moved)
  }

  /// Gives what is inside to a socket, as far as it takes it.
  public func drain(into socket: borrowing Socket) -> Socket.Outcome {
    let descriptor = socket.descriptor
    let moved = uninterrupted { clinux_splice(output, descriptor, count) }
    if moved > 0 { count -= moved }
    return outcome(moved)
  }

  private func outcome(_ moved: Int) -> Socket.Outcome {
    if moved > 0 { return .transferred(moved) }
    if moved == 0 { return .closed }
    if moved == -Int(EAGAIN) { return .wouldBlock }
    return .failed(SystemError(call: "splice", code: CInt(truncatingIfNeeded: -moved)))
  }
}
