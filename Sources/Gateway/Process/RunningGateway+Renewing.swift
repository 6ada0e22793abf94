import Configuration
import Diagnostics
import Dispatch
import Metrics
import Synchronization

/// Files of keys, certificates and tokens that change while the configuration stays.
extension RunningGateway {
  func filesChanged(_ files: [String]) {
    let isReload = state.withLock { state in
      // A configuration that could not be used may have waited for just this file.
      state.isReloadPending || files.contains { state.settingsFiles.contains($0) }
    }
    if isReload, case .ok = reload(because: .file) { return }
    let own = Set(snapshot.configuration.credentialFiles)
    if files.contains(where: own.contains) { renewCredentials() }
  }

  /// Reads those files anew, and nothing else: what is wrong with the configuration at this moment, or with another of
  /// them, does not hold a good one up.
  private func renewCredentials() {
    changes.sync {
      let (old, listeners, isPending, isDraining) = state.withLock {
        ($0.snapshot, $0.listeners, $0.isReloadPending, $0.isDraining)
      }
      if isDraining { return }
      let files = CredentialFiles(before: old.files)
      let (snapshot, diagnostics) = Self.compile(
        old.configuration, shared, interceptors, generation: old.generation + 1, before: old, files: files)
      let faults = old.configuration.hidingSecrets(
        in: files.faults + diagnostics.filter { $0.severity == .error })
      for fault in faults { shared.log.write(.error, "\(fault)") }
      if let snapshot {
        publish(snapshot, listeners, replacing: listeners, after: old)
        state.withLock { state in
          state.isReloadPending = isPending
          state.status.renewed(old.configuration.hidingSecrets(in: diagnostics))
        }
      }
      shared.metrics.operation.staleFiles.set(Double(faults.count))
      shared.metrics.operation.reloads.child([faults.isEmpty ? "ok" : "failed"]).add(1, shard: 0)
      if faults.isEmpty {
        shared.log.write(.info, "keys and certificates were read anew (a file changed)")
      } else if snapshot == nil {
        shared.log.write(.error, "no file was read anew; what all of them held before stays in use")
      } else {
        shared.log.write(.error, "what these files held before stays in use; the others were read anew")
      }
    }
  }
}
