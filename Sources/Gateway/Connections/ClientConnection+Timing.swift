import Bytes
import Configuration
import EventLoops
import HTTP1
import Metrics
import RPC

extension ClientConnection {
  /// Over how long the minimum rate of a request body is measured.
  static let rateWindow: Duration = .seconds(5)
  /// How long bytes are dropped after the last answer, before the connection is closed over them.
  static let lingering: Duration = .seconds(2)

  /// Makes sure that the one timer fires at this moment at the latest.
  ///
  /// Deadlines that move later cost nothing: the timer fires early, looks, and is set again.
  func arm(_ moment: Instant) {
    if let timerAt, timerAt <= moment { return }
    timerAt = moment
    timer.schedule(at: moment)
  }

  func timeIsUp() {
    timerAt = nil
    let now = worker.loop.now
    switch phase {
    case .head: checkHead(now)
    case .body, .reply, .tunnel: checkCall(now)
    case .leftover: checkLeftover(now)
    case .discard: checkEnd(now)
    case .closed: break
    }
  }

  private func checkHead(_ now: Instant) {
    guard incoming?.parser.hasBegun == true else {
      let end = lastProgress + worker.timeouts.idle
      if now >= end { close() } else { arm(end) }
      return
    }
    let end = requestStartedAt + worker.timeouts.requestHead
    guard now >= end else {
      arm(end)
      return
    }
    refuseSlow()
  }

  /// The rest of a body that nobody waits for has a moment to come.
  private func checkLeftover(_ now: Instant) {
    let end = rateWindowStart + Self.rateWindow
    if now >= end { endAfterFlush() } else { arm(end) }
  }

  /// The last answer may take its time as long as it moves; what the client sends after it may not.
  private func checkEnd(_ now: Instant) {
    let end = lingersUntil ?? lastProgress + worker.timeouts.streamIdle
    if now >= end { close() } else { arm(end) }
  }

  private func checkCall(_ now: Instant) {
    guard let call else { return }
    if let deadline = call.deadline {
      if now >= deadline {
        call.deadlinePassed()
        return
      }
      arm(deadline)
    }
    let stall = lastProgress + worker.timeouts.streamIdle
    if call.deadline == nil {
      if now >= stall {
        call.stalled()
        return
      }
      arm(stall)
    }
    guard phase == .body, mayReceive, !readsPaused else {
      if phase == .body { arm(now + Self.rateWindow) }
      return
    }
    checkBody(call, now)
  }

  private func checkBody(_ call: Call, _ now: Instant) {
    if call.buffersRequest, now >= requestStartedAt + worker.timeouts.requestBody {
      worker.metrics.connections.slowRequests.add(1, shard: worker.index)
      call.fail(RPCError(.deadlineExceeded, "the request body did not arrive in time", httpStatus: 408))
      return
    }
    if now >= rateWindowStart + Self.rateWindow {
      if worker.limits.bodyRate > 0, !call.mayPause, rateWindowBytes < worker.limits.bodyRate * 5 {
        worker.metrics.connections.slowRequests.add(1, shard: worker.index)
        call.fail(RPCError(.deadlineExceeded, "the request body arrives too slowly", httpStatus: 408))
        return
      }
      rateWindowStart = now
      rateWindowBytes = 0
    }
    arm(rateWindowStart + Self.rateWindow)
  }
}
