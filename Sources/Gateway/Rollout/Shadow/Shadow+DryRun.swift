import Metrics
import Migration
import RPC

/// The outcomes of dry runs of one route.
struct DryRunCounters {
  let ok: Counter
  /// Translation refused the request.
  let refused: Counter
  /// The rest side's answer does not fit the schema, is spelt otherwise than the gateway would, or has another status than
  /// `success_status`.
  let misfit: Counter
  let skipped: Counter

  init(_ route: Route, _ metrics: GatewayMetrics) {
    func child(_ outcome: String) -> Counter { metrics.rollout.dryRuns.child([route.service, route.method, outcome]) }
    ok = child("ok")
    refused = child("refused")
    misfit = child("misfit")
    skipped = child("skipped")
  }
}

extension Shadow {
  /// Says what a flip would break: a request that translation refuses although the rest side takes it, an answer that
  /// does not fit the schema or would be written otherwise.
  func endDryRun(_ answer: ShadowAnswer) {
    copy.unknownFields = []
    let own = resolved(answer)
    var differences = legacyDrift(copy.unknownFields)
    copy.unknownFields = []
    let isPossible = other == nil
    if isPossible { differences += spelling(own, besides: differences) }
    if copy.lackedRoom { return skip(.buffers) }
    let code = Self.code(own)
    let counters = state.dryRun
    var counter = counters.ok
    if isPossible, let status = successStatus(own) { differences.append(status) }
    if differences.contains(where: { $0.kind == .type || $0.kind == .status }) || spellingMatters(differences) {
      counter = counters.misfit
    }
    if case .refused(let error) = other, error.code != code {
      counter = counters.refused
      differences.insert(
        Difference(
          .request, at: requestPath(error), rest: AnswerComparison.text(code), rpc: .text(Self.shown(error))), at: 0)
    } else if case .error(let error) = own, error.misfit != nil {
      counter = counters.misfit
      differences.insert(misfit(error, isRest: true), at: 0)
    }
    counter.add(1, shard: worker.index)
    if !differences.isEmpty {
      record(
        differences, isSample: counter !== counters.ok, rest: Self.name(code),
        rpc: other == nil ? "not asked" : "refused")
    }
    settle()
  }
}
