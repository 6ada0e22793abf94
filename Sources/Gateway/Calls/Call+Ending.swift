import RPC

/// How a call ends: once, and whoever was entered is left.
extension Call {
  /// Ends the call with an error in the caller's protocol; if an answer has begun, the exchange is cut.
  func fail(_ error: RPCError) {
    guard state != .ended else { return }
    self.error = error
    outcome = error.code
    attempt?.cancel()
    observeAttempt()
    if sentHead {
      if endStream(with: error) { return finish() }
      let client = client
      finish(tellsClient: false)
      client?.abort()
      return
    }
    if error.httpStatus == 505 { client?.closeAfterAnswer() }
    let answer = worker.answer
    answer.removeAll()
    face.encodeError(self, error, into: answer)
    send(answer)
    finish()
  }

  /// Ends a call whose head was refused. The interceptors see it like any other, for what they add to answers, count and
  /// log; what they say of it themselves does not matter, but that who refuses it hides it from those behind.
  func refuse(_ error: RPCError) {
    readForwarded()
    entering: while let interceptor = chain.next() {
      switch interceptor.onCall(self) {
      case .proceed: continue
      case .refuse, .answer, .wait: break entering
      }
    }
    fail(error)
  }

  /// Ends the call well, with a status and no body.
  func answer(status: Int) {
    let answer = worker.answer
    answer.removeAll()
    answer.status = status
    send(answer)
    finish()
  }

  func finish(tellsClient: Bool = true) {
    guard state != .ended else { return }
    state = .ended
    relay?.close()
    worker.shared.buffers.release(reserved)
    reserved = 0
    // Else nothing was gathered. Mostly the loop's own read buffers, moved here with what was in them.
    if backend != nil || fallback != nil || isCopy {
      worker.discard(&requestBody)
      worker.discard(&replyBody)
    }
    for index in chain.end() { chain[index].onEnd(self) }
    attempt = nil
    worker.callEnded(self)
    let client = client
    self.client = nil
    if tellsClient { client?.callEnded() }
    if let shadow {
      self.shadow = nil
      shadow.callEnded()
    }
    fallback?.end()
    forgetFields()
  }

  /// The client left: what answers is cancelled; a shadow goes on.
  func clientLeft() {
    guard state != .ended else { return }
    if let tap, tap.hasPassedEnd { outcome = tap.outcome() } else { outcome = .canceled }
    if status == 0 { status = 499 }
    attempt?.cancel()
    observeAttempt()
    finish(tellsClient: false)
  }

  /// The client's bytes stopped being HTTP in the middle of the body.
  func clientBroke(_ error: RPCError) { fail(error) }

  func clientCongested() {
    if state == .passing || state == .relaying { attempt?.pauseReading() }
  }

  func clientDrained() {
    if state == .relaying { relay?.clientDrained() } else { attempt?.resumeReading() }
  }

  func deadlinePassed() {
    fallback?.deadlinePassed()
    fail(RPCError(.deadlineExceeded, "the deadline passed", logDetail: whatIsMissing))
  }

  /// What was waited for, for the log.
  private var whatIsMissing: String {
    guard let attempt else {
      return state == .gathering ? "the request had not come whole" : ""
    }
    let place = attempt.endpoint?.name ?? upstreamName
    if attempt.hasBegunToAnswer { return "\(place): its answer had begun" }
    if attempt.connection?.isWriting == true { return "\(place): it had not answered" }
    return "\(place): \(attempt.failedEndpoint == nil ? "there was no connection yet" : "it was to be asked again")"
  }

  func stalled() { fail(RPCError(.deadlineExceeded, "nothing moved for longer than timeouts.stream_idle")) }
}
