import Dispatch
import EventLoops
import Glibc
import Synchronization

/// The signals of a process that serves. Those that come before there is a gateway to obey them are remembered: a
/// supervisor may end what it has just begun, and the default of each of them ends the process with the signal for a code.
/// Who asks for the end a second time does not wait for the start.
final class ProcessSignals: Sendable {
  private struct State {
    var watcher: SignalWatcher?
    /// Nil while it starts.
    var gateway: RunningGateway?
    /// Came before that.
    var early: Set<CInt> = []
  }

  private let state = Mutex(State())

  /// From here on they end nothing by themselves. Called again it does nothing.
  func watch() throws(SystemError) {
    if state.withLock({ $0.watcher != nil }) { return }
    let watcher = try SignalWatcher(
      [SIGTERM, SIGINT, SIGHUP, SIGUSR1], queue: DispatchQueue(label: "signals")
    ) { [weak self] number in self?.came(number) }
    state.withLock { $0.watcher = watcher }
  }

  /// There is a gateway, which obeys what came before, and all that comes.
  func lead(to gateway: RunningGateway) {
    let early = state.withLock { state in
      state.gateway = gateway
      return state.early
    }
    let ends = [SIGTERM, SIGINT].filter(early.contains)
    if let end = ends.first {
      let name = end == SIGTERM ? "SIGTERM" : "SIGINT"
      gateway.shared.log.write(.info, "\(name) came before the start was done; it ends")
      return gateway.drain()
    }
    // Which files are open and what was read may be older than the signal.
    for number in [SIGUSR1, SIGHUP] where early.contains(number) { Self.obey(number, gateway) }
  }

  private func came(_ number: CInt) {
    let (gateway, isFirst) = state.withLock { state -> (RunningGateway?, Bool) in
      if let gateway = state.gateway { return (gateway, true) }
      return (nil, state.early.insert(number).inserted)
    }
    if let gateway { return Self.obey(number, gateway) }
    // A start may hang, on a disk for one. Nothing is served yet, so nothing is lost for who asks twice.
    if !isFirst, number == SIGTERM || number == SIGINT { _exit(128 + number) }
  }

  private static func obey(_ number: CInt, _ gateway: RunningGateway) {
    switch number {
    case SIGHUP: gateway.reloadSoon(because: .signal)
    case SIGUSR1: gateway.reopenLogs()
    default: gateway.drain()
    }
  }
}
