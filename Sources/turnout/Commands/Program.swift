import Diagnostics
import Gateway

/// Runs one command and says with which code to exit.
struct Program: Sendable {
  enum ExitCode: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
  }

  static let version = Turnout.version

  /// What serve, check, routes, explain and demo run on.
  let gateway: any GatewayProgram
  var console = Console.standard
  /// Reads a variable of the environment.
  var environment: @Sendable (String) -> String?

  /// - Parameter arguments: without the program's name.
  func run(_ arguments: [String]) -> ExitCode {
    let command: Command
    do {
      command = try Command(parsing: arguments)
    } catch {
      return refuse(error)
    }
    switch command {
    case .help(let topic):
      console.out(UsageText.text(of: topic))
      return .done
    case .version:
      console.out("turnout \(Self.version)\n")
      return .done
    case .stage(let arguments): return stage(arguments)
    case .clearStage(let arguments): return clearStage(arguments)
    case .hold(let arguments): return hold(arguments)
    case .status(let arguments): return status(arguments)
    case .runningRoutes(let admin, let asJSON): return routes(of: admin, asJSON: asJSON)
    case .report(let admin): return report(admin)
    case .serve, .check, .routes, .explain, .demo: return run(command, on: gateway)
    }
  }

  private func run(_ command: Command, on gateway: any GatewayProgram) -> ExitCode {
    switch command {
    case .serve(let config): serving(on: gateway) { serve(config, on: gateway) }
    case .check(let config): check(config, on: gateway)
    case .routes(let config, let asJSON): routes(config, asJSON: asJSON, on: gateway)
    case .explain(let arguments): explain(arguments, on: gateway)
    case .demo(let hasBugs): serving(on: gateway) { demo(hasBugs: hasBugs, on: gateway) }
    case .stage, .clearStage, .hold, .status, .report, .runningRoutes, .help, .version: .usage
    }
  }

  /// A command that is ended by signals, from its very beginning; the others are killed by them as is usual.
  private func serving(on gateway: any GatewayProgram, _ command: () -> ExitCode) -> ExitCode {
    switch gateway.catchSignals() {
    case .success: command()
    case .failure(let failure): report(failure)
    }
  }

  private func refuse(_ error: UsageError) -> ExitCode {
    console.error("turnout: \(error.message)\n")
    console.error("\(UsageText.hint(for: error.command))\n")
    return .usage
  }

  /// Prints why a command failed, each reason in one line.
  func report(_ failure: ProgramFailure) -> ExitCode {
    switch failure {
    case .configuration(let diagnostics): for diagnostic in diagnostics { console.error("\(diagnostic)\n") }
    case .other(let reason): console.error("turnout: \(reason)\n")
    }
    return .failed
  }
}
