import Gateway

extension Program {
  func serve(_ config: String, on gateway: any GatewayProgram) -> ExitCode {
    switch gateway.serve(configPath: config, started: { _ in }) {
    case .success: .done
    case .failure(let failure): report(failure)
    }
  }
}
