import Diagnostics
import Gateway
import Synchronization

@testable import turnout

/// A gateway that answers as a test says.
struct ScriptedGateway: GatewayProgram {
  var onServe: @Sendable (String, @Sendable (ServedAddresses) -> Void) -> Result<Void, ProgramFailure> = { _, _ in
    .success(())
  }
  var onSignals: @Sendable () -> Result<Void, ProgramFailure> = { .success(()) }
  var diagnostics: [Diagnostic] = []
  var table: Result<[RouteSummary], ProgramFailure> = .success([])
  var onExplain: @Sendable (ExplainedRequest) -> Result<String, ProgramFailure> = { _ in .success("") }

  func catchSignals() -> Result<Void, ProgramFailure> { onSignals() }
  func serve(
    configPath: String, started: @escaping @Sendable (ServedAddresses) -> Void
  ) -> Result<Void, ProgramFailure> { onServe(configPath, started) }
  func check(configPath: String) -> [Diagnostic] { diagnostics }
  func routes(configPath: String) -> Result<[RouteSummary], ProgramFailure> { table }
  func explain(configPath: String, request: ExplainedRequest) -> Result<String, ProgramFailure> {
    onExplain(request)
  }
}

/// Runs a program and keeps what it printed.
final class Captured: Sendable {
  private let texts = Mutex((out: "", error: ""))
  var out: String { texts.withLock { $0.out } }
  var error: String { texts.withLock { $0.error } }

  func run(
    _ arguments: [String], on gateway: any GatewayProgram = ScriptedGateway(), environment: [String: String] = [:]
  ) -> Int32 {
    let console = Console(
      out: { text in self.texts.withLock { $0.out += text } },
      error: { text in self.texts.withLock { $0.error += text } })
    return Program(gateway: gateway, console: console, environment: { environment[$0] }).run(arguments).rawValue
  }
}
