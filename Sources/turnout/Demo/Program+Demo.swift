import Gateway

extension Program {
  func demo(on gateway: any GatewayProgram) -> ExitCode { .failed }
}
