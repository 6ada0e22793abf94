import Diagnostics
import Gateway

extension Program {
  /// Warnings are printed and do not fail.
  func check(_ config: String, on gateway: any GatewayProgram) -> ExitCode {
    let diagnostics = gateway.check(configPath: config)
    for diagnostic in diagnostics { console.error("\(diagnostic)\n") }
    guard !diagnostics.contains(where: { $0.severity == .error }) else { return .failed }
    console.out("\(config): ok\n")
    return .done
  }
}
