/// The span of a copy for the other side: it hangs under that of the call, names the copy's request in what is sent, and
/// is given away when the copy ends, which may be long after the call.
final class CopySpan {
  private let trace: CallTrace
  private let attempt: CallTrace.PendingAttempt
  private let side: StageDecision.Side

  /// Nil where nothing is recorded.
  ///
  /// - Parameter prepare: has the interceptors see the copy's request, as they see every request.
  init?(of call: Call, to side: StageDecision.Side, _ prepare: () -> Void) {
    let known = call.trace?.pending.count ?? 0
    prepare()
    // Not one of those whose end the call is told of.
    guard let trace = call.trace, trace.records, trace.pending.count > known, let attempt = trace.pending.popLast()
    else { return nil }
    self.trace = trace
    self.attempt = attempt
    self.side = side
  }

  /// - Parameter copy: knows the route and the face of the call that was copied.
  func end(_ end: AttemptEnd, of copy: Call) {
    let span = CallSpans.client(attempt, end, copy, trace, side: side, isCopy: true)
    copy.worker.traceExporter(trace.plan).add([span])
  }
}
