import Configuration
import Diagnostics
import EventLoops
import Synchronization

/// Who may have the process's file descriptors when they run short: the last of them are neither for clients nor for
/// upstreams, so that the admin endpoint, probes, logs and reloads still work (decision 62).
///
/// The kernel gives the lowest free number, so the number of a descriptor tells how many there are. Safe from any thread.
final class DescriptorBudget: Sendable {
  /// What a limit of descriptors leaves for whom.
  struct Shares: Equatable {
    /// Numbers from here on are for no client.
    var clients = Int.max
    /// Numbers from here on are for no upstream.
    var upstreams = Int.max
    /// Client connections that there can be at a time, when no upstream needs a descriptor.
    var connections = Int.max

    /// - Parameters:
    ///   - limit: descriptors that the process may have.
    ///   - inUse: of those, what it has open before the first client.
    init(limit: Int, inUse: Int) {
      guard limit < .max else { return }
      let free = Swift.max(0, limit - inUse)
      // One in eight; all of it matters where there are few, and more than some hundred nobody needs.
      let reserve = Swift.min(Swift.max(free / 8, Swift.min(8, free / 2)), 512)
      clients = limit - reserve
      upstreams = limit - reserve / 2
      connections = Swift.max(1, free - reserve)
    }
  }

  /// Assumed where nothing is open yet: loops, listeners, logs.
  private static let usual = 48

  /// Fewer client connections than this are worth a warning in any case.
  private static let few = 1_000

  private let clients = Atomic<Int>(.max)
  private let upstreams = Atomic<Int>(.max)
  private let most = Atomic<Int>(.max)
  /// The last client looked at found no number of its own.
  private let isShort = Atomic<Bool>(false)

  /// Everything is open that a gateway without clients needs.
  func begin(limit: Int, inUse: Int) {
    let shares = Shares(limit: limit, inUse: inUse)
    clients.store(shares.clients, ordering: .relaxed)
    upstreams.store(shares.upstreams, ordering: .relaxed)
    most.store(shares.connections, ordering: .relaxed)
  }

  /// Client connections that there can be at a time with this `limits.connections`.
  func connections(_ limits: LimitsConfiguration) -> Int { min(limits.connections, most.load(ordering: .relaxed)) }

  /// Whether one more client can be taken.
  ///
  /// - Parameter connections: clients that there are. While they are few and nothing was short, nobody asks the kernel.
  func hasRoom(forClientOf socket: ListeningSocket, connections: Int) -> Bool {
    if !isShort.load(ordering: .relaxed), connections < most.load(ordering: .relaxed) / 4 { return true }
    guard let next = socket.nextDescriptor else { return false }
    let hasRoom = next < clients.load(ordering: .relaxed)
    isShort.store(!hasRoom, ordering: .relaxed)
    return hasRoom
  }

  /// Whether a client that was accepted may keep this descriptor.
  ///
  /// Another loop, or an upstream's connection, may have taken the last number since ``hasRoom(forClientOf:connections:)``.
  /// This client's request may be on its way, so it stays, at most one for each loop; those behind it wait.
  func allows(client descriptor: CInt) -> Bool {
    if Int(descriptor) < clients.load(ordering: .relaxed) { return true }
    isShort.store(true, ordering: .relaxed)
    return allows(upstream: descriptor)
  }

  /// Whether an upstream's connection may have this descriptor.
  func allows(upstream descriptor: CInt) -> Bool { Int(descriptor) < upstreams.load(ordering: .relaxed) }

  /// What is to be said of a limit that cannot be reached.
  static func warning(limits: LimitsConfiguration, reachable: Int, file: String) -> Diagnostic? {
    guard reachable < limits.connections else { return nil }
    return Diagnostic(
      severity: .warning, at: SourcePosition(file: file, line: 1, column: 1),
      "limits.connections is \(limits.connections), and there are file descriptors for \(reachable) connections of clients",
      cure: "let the process open more files (LimitNOFILE, ulimit -n), or lower limits.connections")
  }

  /// Whether it is a warning: of a limit that somebody has chosen, or of very few descriptors. Nobody has asked for as many
  /// as the default says.
  static func isMistake(_ limits: LimitsConfiguration, reachable: Int) -> Bool {
    limits.connections != LimitsConfiguration().connections || reachable < few
  }

  /// The same before anything runs, by what this process could ask for: where a file is checked is often not where it
  /// serves.
  static func warning(checking configuration: GatewayConfiguration) -> Diagnostic? {
    warning(of: configuration, reachable: Shares(limit: DescriptorLimit.greatest, inUse: usual).connections)
  }

  /// The same of the process that serves, by what it has.
  func warning(serving configuration: GatewayConfiguration) -> Diagnostic? {
    Self.warning(of: configuration, reachable: connections(configuration.limits))
  }

  private static func warning(of configuration: GatewayConfiguration, reachable: Int) -> Diagnostic? {
    guard isMistake(configuration.limits, reachable: reachable) else { return nil }
    return warning(limits: configuration.limits, reachable: reachable, file: configuration.file)
  }
}
