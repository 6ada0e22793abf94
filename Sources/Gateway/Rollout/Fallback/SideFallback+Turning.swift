import Bytes
import EventLoops
import HTTPModel
import Metrics
import RPC

/// From the failure of the chosen side to the other one, and what is counted of it.
extension SideFallback {
  /// Asks the other side, if this failure is one of the chosen side's and the request is at hand.
  ///
  /// - Returns: false when the failure is the call's own answer.
  func turns(after error: RPCError) -> Bool {
    let call = call
    guard phase == .ready, let decision = call.decision, let route = call.route, !call.lackedRoom,
      SideFigures.Outcome(error.code, status: error.status, error, of: call, on: decision.side) == .failure,
      let upstream = route.plan.upstream(of: decision.side.other)
    else { return false }
    if call.isAtDeadline { return cannot(.late) }
    // A long body that is translated as it comes, and one that went on without being gathered.
    if call.isUploading || !hasWholeRequest && fields == nil { return cannot(.tooLarge) }
    // The attempt that goes on if the other side cannot be asked has these for its own.
    var sent: FieldBlock?
    if let fields {
      let copy = FieldBlock()
      copy.append(contentsOf: call.head.fields)
      sent = copy
      call.head.fields.removeAll()
      call.head.fields.append(contentsOf: fields)
    }
    guard hasWholeRequest else {
      turn(error, decision, route)
      call.gather(for: upstream)
      return true
    }
    // Before anything of the failure is let go: it stands if there are no words for the request.
    let request: WholeRequest
    do {
      request = try call.wholeRequest(for: upstream)
    } catch {
      if let sent {
        call.head.fields.removeAll()
        call.head.fields.append(contentsOf: sent)
      }
      return cannot(call.lackedRoom ? .buffers : .refused)
    }
    turn(error, decision, route)
    call.ask(request, upstream)
    return true
  }

  private func cannot(_ reason: Outcome) -> Bool {
    phase = .unable(reason)
    return false
  }

  private func turn(_ error: RPCError, _ decision: StageDecision, _ route: RouteState) {
    phase = .turned
    endPatience()
    failure = error
    compareHeld()
    shadow = call.shadow
    call.shadow = nil
    releaseHeld()
    if call.attempt !== dropped { call.attempt?.cancel() }
    call.observeAttempt()
    // The guard judges sides by what they do; that the caller will not see it changes nothing.
    worker.countFigures(.failure, decision, route, elapsed: worker.loop.now.nanoseconds(since: call.startedAt))
    call.decision?.hasFallenBack = true
    call.forgetReply()
  }

  /// What the caller is told when the request cannot be written for the side that is asked: once the other one was turned
  /// to, the failure of the first.
  func standing(_ error: RPCError) -> RPCError {
    guard phase == .turned, let failure else { return error }
    wasRefused = true
    return failure
  }

  /// The caller's time is up.
  func deadlinePassed() {
    if phase == .ready, call.attempt != nil { phase = .unable(.late) }
  }

  /// The call is over.
  func end() {
    dropped?.cancel()
    dropped = nil
    endPatience()
    releaseHeld()
    switch phase {
    case .turned: count(wasRefused ? .refused : outcomeOfOther)
    case .unable(let reason):
      if let decision = call.decision, SideFigures.Outcome(of: call, decision) == .failure { count(reason) }
    case .passed, .ready: break
    }
    shadow?.callEnded()
    shadow = nil
  }

  private var outcomeOfOther: Outcome {
    guard let code = call.outcome, let decision = call.decision else { return .answered }
    if code == .canceled { return .canceled }
    let outcome = SideFigures.Outcome(code, status: call.status, call.error, of: call, on: decision.answering)
    return outcome == .failure ? .failed : .answered
  }

  private func count(_ outcome: Outcome) {
    guard let route = call.route?.plan, let side = call.decision?.side else { return }
    worker.metrics.rollout.fallbacks.child([route.service, route.method, side.label, outcome.rawValue])
      .add(1, shard: worker.index)
  }
}

extension RPCError {
  /// As a REST caller gets it.
  var status: Int { httpStatus ?? code.httpStatus }
}
