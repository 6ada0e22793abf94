import Configuration

/// Asks the endpoints of all upstreams that want it how they are, for all loops.
final class HealthChecker {
  private unowned let worker: Worker
  private var probes: [ObjectIdentifier: HealthProbe] = [:]

  init(worker: Worker) { self.worker = worker }

  /// Takes over which endpoints there are, and what they are asked.
  func follow(_ plans: LoopSnapshot) {
    var kept: [ObjectIdentifier: HealthProbe] = [:]
    for (index, pool) in plans.pools.enumerated() {
      guard let configuration = pool.configuration.healthCheck else { continue }
      for member in pool.members {
        let id = ObjectIdentifier(member)
        let probe = probes.removeValue(forKey: id) ?? HealthProbe(endpoint: member, worker: worker)
        probe.adopt(configuration, pool, plans.snapshot.upstreamHeaders[index])
        kept[id] = probe
      }
    }
    for gone in probes.values { gone.stop() }
    probes = kept
  }

  func stop() {
    for probe in probes.values { probe.stop() }
    probes = [:]
  }
}
