import Bytes
import Configuration
import EventLoops
import HTTPModel
import Metrics
import Migration
import ProtoJSON
import ProtobufSchema
import RPC
import Synchronization

/// What the two answers say, beside each other.
extension Shadow {
  func compare(_ answer: ShadowAnswer, _ other: ShadowAnswer) {
    guard case .copy(let side, _) = purpose else { return }
    let otherUnknown = copy.unknownFields
    copy.unknownFields = []
    let own = resolved(answer)
    let unknown = unknown + otherUnknown + copy.unknownFields
    copy.unknownFields = []
    var result = side == .rpc ? differences(rest: own, rpc: other) : differences(rest: other, rpc: own)
    let drift = legacyDrift(unknown)
    // What the schema has no value for was dropped: that it is missing is no news.
    let dropped = drift.filter { $0.kind == .type }.map(\.path)
    result.differences.removeAll { dropped.contains($0.path) && [.missing, .extra].contains($0.kind) }
    result.differences += drift
    if let status = successStatus(own) { result.differences.append(status) }
    if side == .rpc { result.differences += spelling(own, besides: drift) }
    let codes = side == .rpc ? (Self.code(own), Self.code(other)) : (Self.code(other), Self.code(own))
    conclude(result, rest: codes.0, rpc: codes.1)
  }

  /// Members of the rest side's answer that the schema lacks, and names of enums that it lacks.
  func legacyDrift(_ paths: [String]) -> [Difference] {
    let plan = route.plan
    var drift: [Difference] = []
    for path in paths {
      let (path, isKnown) = SpelledPath.resolve(path, in: plan.codec.schema, message: plan.type.output)
      let difference = Difference(
        isKnown ? .type : .unknown, at: path,
        rest: .text(isKnown ? "a name that the enum lacks" : "not in the schema"))
      // The elements of a list have one path.
      if !drift.contains(difference) { drift.append(difference) }
    }
    return drift
  }

  /// The call's own answer, read if it passed through.
  func resolved(_ answer: ShadowAnswer) -> ShadowAnswer {
    guard case .tapped = answer, let tapped, let answering else { return answer }
    return read(tapped.head, &tapped.body, tapped.trailers, of: answering)
  }

  /// The status of a success that a REST caller will see change once the rpc side answers; nil when it stays.
  func successStatus(_ own: ShadowAnswer) -> Difference? {
    let then = route.plan.settings.successStatus
    guard case .message = own, copy.face.kind == .rest, let now = tapped?.head.status, now != then else { return nil }
    return Difference(.status, at: "", rest: .text("HTTP \(now)"), rpc: .text("HTTP \(then), as `success_status` says"))
  }

  static func code(_ answer: ShadowAnswer) -> Code? {
    switch answer {
    case .message, .tapped: nil
    case .error(let error), .refused(let error): error.code
    }
  }

  private func differences(rest: ShadowAnswer, rpc: ShadowAnswer) -> AnswerComparison {
    switch (rest, rpc) {
    case (.message(let rest), .message(let rpc)): return messages(rest, rpc)
    case (.refused(let error), _):
      return refusal(error, Self.code(rpc)) { Difference(.request, at: $0, rest: $1, rpc: $2) }
    case (_, .refused(let error)):
      return refusal(error, Self.code(rest)) { Difference(.request, at: $0, rest: $2, rpc: $1) }
    case (.error(let error), _) where error.misfit != nil:
      return AnswerComparison(misfit(error, isRest: true))
    case (_, .error(let error)) where error.misfit != nil:
      return AnswerComparison(misfit(error, isRest: false))
    default: return AnswerComparison.ofCodes(rest: Self.code(rest), rpc: Self.code(rpc))
    }
  }

  /// What translation refuses, the flip would break; unless the other side refuses it just so.
  private func refusal(
    _ error: RPCError, _ other: Code?, _ make: (String, DifferenceValue, DifferenceValue) -> Difference
  ) -> AnswerComparison {
    if error.code == other { return AnswerComparison() }
    return AnswerComparison(make(requestPath(error), .text(Self.shown(error)), AnswerComparison.text(other)))
  }

  func requestPath(_ error: RPCError) -> String {
    SpelledPath.generic(error.misfit?.path ?? "", in: route.plan.codec.schema, message: route.plan.type.input)
  }

  /// What is wrong with the answer of one side.
  func misfit(_ error: RPCError, isRest: Bool) -> Difference {
    let path = SpelledPath.generic(
      error.misfit?.path ?? "", in: route.plan.codec.schema, message: route.plan.type.output)
    let value = DifferenceValue.text(error.misfit?.reason ?? error.message)
    return Difference(.type, at: path, rest: isRest ? value : .absent, rpc: isRest ? .absent : value)
  }

  /// Why translation refused; without the value, which is the client's own.
  static func shown(_ error: RPCError) -> String { error.misfit?.reason ?? error.message }

  private func messages(_ rest: Payload, _ rpc: Payload) -> AnswerComparison {
    let plain: Payload
    let otherPlain: Payload
    do throws(RPCError) {
      plain = try rest.converted(to: .proto, copy)
    } catch {
      return AnswerComparison(misfit(error, isRest: true))
    }
    do throws(RPCError) {
      otherPlain = try rpc.converted(to: .proto, copy)
    } catch {
      return AnswerComparison(misfit(error, isRest: false))
    }
    let plan = route.plan.comparison.plan
    let codec = route.plan.codec
    return plain.withSpan { rest in
      otherPlain.withSpan { rpc in
        plan.compare(
          rest: rest, rpc: rpc, codec: codec, keepsValues: settings.samples == .values,
          workspace: &worker.comparison)
      }
    }
  }

  // MARK: What is kept

  private func conclude(_ result: AnswerComparison, rest: Code?, rpc: Code?) {
    if copy.lackedRoom { return skip(.buffers) }
    guard result.isComplete else { return skip(.notComparable) }
    let isMatch = result.isMatch(
      unknownMatters: settings.unknown == .mismatch, spellingMatters: settings.spelling == .mismatch)
    (isMatch ? state.match : state.mismatch).add(1, shard: worker.index)
    // How the old side spells its answers is no fault of the new one, and nothing for its guard.
    let isSame = result.isMatch(unknownMatters: settings.unknown == .mismatch, spellingMatters: false)
    route.figures(.rpc, worker).count(match: isSame)
    if !result.differences.isEmpty {
      record(result.differences, isSample: !isMatch, rest: Self.name(rest), rpc: Self.name(rpc))
    }
    settle()
  }

  static func name(_ code: Code?) -> String { code.map { "\($0.name)" } ?? "ok" }

  /// - Parameter isSample: whether the call is kept and logged; else it is only counted.
  func record(_ differences: [Difference], isSample: Bool, rest: String, rpc: String) {
    let now = worker.loop.now
    let sample = isSample ? self.sample(differences, rest, rpc) : nil
    let (places, leftOut) = state.findings.withLock { findings in
      let places = differences.map { findings.count($0) }
      guard let sample else { return (places, nil as Int?) }
      findings.keep(sample, limit: settings.maxSamples)
      return (places, findings.lines.next(at: now))
    }
    if settings.pathMetrics {
      for place in places { state.differences(place.path, place.kind.rawValue).add(1, shard: worker.index) }
    }
    if let leftOut { log(differences, leftOut) }
  }

  private func sample(_ differences: [Difference], _ rest: String, _ rpc: String) -> ShadowFindings.Sample {
    var time = ByteBuffer()
    WallClock.now().appendRFC3339(to: &time)
    return ShadowFindings.Sample(
      at: time.withSpan { String(repairing: $0) },
      request: copy.face.kind == .rest ? "\(copy.head.method.name) \(copy.routeLabel)" : copy.routeLabel,
      requestID: copy.head.fields.text(of: .xRequestId) ?? "", rest: rest, rpc: rpc, differences: differences)
  }

  private func log(_ differences: [Difference], _ leftOut: Int) {
    guard let first = differences.first(where: { $0.kind != .unknown }) ?? differences.first else { return }
    var line = "the sides of \(route.plan.name) differ at \(first.path): \(first.kind.rawValue)"
    let (rest, rpc) = first.kind == .form ? (first.rest.quoted, first.rpc.quoted) : (first.rest.shown, first.rpc.shown)
    line += " (rest \(rest), rpc \(rpc))"
    if differences.count > 1 { line += ", and at \(differences.count - 1) more" }
    if leftOut > 0 { line += "; \(leftOut) more calls differed since the last line" }
    worker.log(.warning, line)
  }
}

extension DifferenceValue {
  /// In a log line, where it matters whether it is a text.
  var quoted: String {
    if case .text(let text) = self { "\"\(text)\"" } else { shown }
  }

  /// In a log line.
  var shown: String {
    switch self {
    case .absent: "nothing"
    case .literal(let text), .text(let text): text
    }
  }
}
