import EventLoops
import HTTP1
import HTTPModel
import Metrics
import RPC

/// Requests whose heads cannot be used, or do not come to their end.
extension ClientConnection {
  /// What came is no acceptable HTTP: it is answered, and the connection ends.
  func refuse(_ error: HTTP1Error) {
    worker.metrics.connections.malformed(error, shard: worker.index)
    let answer = RPCError(.invalidArgument, error.reason, httpStatus: error.status)
    if phase == .leftover {
      // Its call was answered.
      lingers = true
      return endAfterFlush()
    }
    if let call {
      // The body went wrong under a running call.
      lingers = true
      call.clientBroke(answer)
      if phase != .closed, phase != .discard { endAfterFlush() }
      return
    }
    refuseHead(answer)
    worker.logRefused(self, status: error.status, reason: error.reason)
  }

  /// The head does not come to its end in time.
  func refuseSlow() {
    worker.metrics.connections.slowRequests.add(1, shard: worker.index)
    refuseHead(RPCError(.deadlineExceeded, "the request head did not arrive in time", httpStatus: 408))
  }

  private func refuseHead(_ error: RPCError) {
    let incoming = incoming ?? worker.takeIncoming()
    self.incoming = incoming
    lingers = true
    sentHead = false
    suppressesBody = incoming.head.method == .head
    closesAfterAnswer = true
    phase = .reply
    let call = worker.makeRefusedCall(client: self, head: incoming.head)
    self.call = call
    call.refuse(error)
  }
}
