import Configuration
import Synchronization

/// What is wrong with the process, for whoever looks at its stages or changes one.
extension RunningGateway {
  /// A sentence each: `warnings` in `/routes`, and in the answer to a change. Empty when all is well.
  var troubles: [String] {
    let (snapshot, isReloadPending) = state.withLock { ($0.snapshot, $0.isReloadPending) }
    var troubles: [String] = []
    if let redis = snapshot.configuration.state?.redis?.name, shared.redisPresence.isMissed(redis) {
      troubles.append(
        "Redis server \(redis) is away: what is changed here reaches the other replicas when it is there again")
    }
    if isReloadPending {
      troubles.append(
        "the configuration has faults, and the one before it serves: the log names them, as `turnout check` does")
    }
    return troubles
  }
}
