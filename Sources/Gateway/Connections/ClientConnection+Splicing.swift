import Bytes
import EventLoops
import HTTP1

/// Long bodies that pass through: they go from socket to socket in the kernel.
///
/// A pipe is filled only while the output is empty, so what is in it comes before what is written later.
extension ClientConnection {
  func pipeForBody() -> SplicePipe? {
    guard phase == .reply || phase == .body, output.isEmpty, !suppressesBody, case .length = answerFraming,
      transport?.isSpliceable == true
    else { return nil }
    if pipe == nil { pipe = worker.takePipe() }
    return pipe
  }

  func pipeFilled() {
    lastProgress = worker.loop.now
    scheduleFlush()
  }

  /// Sends what is in the pipe; true when it is empty.
  func flushPipe() throws(TransportError) -> Bool {
    guard let pipe else { return true }
    while !pipe.isEmpty {
      switch transport?.send(from: pipe) ?? .closed {
      case .transferred: lastProgress = worker.loop.now
      case .wouldBlock: return false
      case .closed: throw TransportError.system(SystemError(call: "splice", code: 0))
      case .failed(let error): throw error
      }
    }
    worker.give(pipe)
    self.pipe = nil
    return true
  }
}
