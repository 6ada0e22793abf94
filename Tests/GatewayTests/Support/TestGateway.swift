import Configuration
import Dispatch
import EventLoops
import EventLoopsTestSupport
import Glibc
import Synchronization
import Testing

@testable import Gateway

/// A gateway in this process, run from a YAML text in a folder of its own; ended with this object.
final class TestGateway {
  let folder: TemporaryFolder
  let running: RunningGateway

  init(_ yaml: String, interceptors: [any Interceptor] = [], proto: String = Depot.proto) throws {
    folder = try TemporaryFolder()
    try folder.write(yaml, to: "turnout.yaml")
    try folder.write(proto, to: "depot.proto")
    running = try RunningGateway.start(
      configPath: folder.file("turnout.yaml"), interceptors: interceptors,
      logTarget: .file(path: folder.file("turnout.log"))
    ).get()
  }

  deinit { end() }

  /// Drains and waits for the end.
  func end() {
    running.drain()
    running.waitUntilEnded()
  }

  /// A new connection to a listener.
  func client(_ listener: Int = 0, receiveBuffer: CInt? = nil) throws -> RawClient {
    let addresses = running.addresses.listeners
    try #require(listener < addresses.count)
    return try RawClient(addresses[listener], receiveBuffer: receiveBuffer)
  }

  /// Writes another configuration and reloads.
  func reload(_ yaml: String) throws -> ReloadOutcome {
    try folder.write(yaml, to: "turnout.yaml")
    return running.reload(because: .signal)
  }

  /// Runs something on the one loop and gives what it returned.
  func onLoop<R: Sendable>(_ body: @escaping @Sendable (Worker) -> R) throws -> R {
    let box = Box<R>()
    let done = DispatchSemaphore(value: 0)
    running.onEachLoop { worker in
      let value = body(worker)
      box.value.withLock { $0 = value }
      done.signal()
    }
    try #require(done.wait(timeout: .now() + .seconds(30)) == .success)
    return try #require(box.value.withLock { $0 })
  }

  /// Waits until something is so on the loop.
  func waitUntil(
    _ condition: @escaping @Sendable (Worker) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for _ in 0..<3000 {
      if try onLoop(condition) { return }
      usleep(10_000)
    }
    Issue.record("it did not become so", sourceLocation: sourceLocation)
  }

  /// The sum of the samples of a metric whose labels contain all these texts.
  func metric(_ name: String, _ labels: String...) -> Double {
    let lines = String(decoding: running.metrics(), as: UTF8.self).split(separator: "\n")
    return lines.filter { line in
      (line.hasPrefix("\(name){") || line.hasPrefix("\(name) ")) && labels.allSatisfy { line.contains($0) }
    }.reduce(0) { $0 + (Double($1.split(separator: " ").last ?? "") ?? 0) }
  }

  /// Waits until a metric has a value.
  func waitFor(
    _ name: String, _ labels: String, toBe value: Double, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for _ in 0..<3000 {
      if metric(name, labels) == value { return }
      usleep(10_000)
    }
    Issue.record("\(name) is \(metric(name, labels)), not \(value)", sourceLocation: sourceLocation)
  }
}

/// Carries a value from one thread to another.
private final class Box<R: Sendable>: Sendable {
  let value = Mutex<R?>(nil)
}
