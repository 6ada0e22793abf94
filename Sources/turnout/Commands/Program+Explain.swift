import Gateway

extension Program {
  func explain(_ arguments: ExplainArguments, on gateway: any GatewayProgram) -> ExitCode {
    let request = ExplainedRequest(
      method: arguments.method, target: arguments.target, fields: arguments.fields.map { ($0.name, $0.value) },
      body: arguments.data.map { Array($0.utf8) })
    switch gateway.explain(configPath: arguments.config, request: request) {
    case .success(let text):
      console.out(text.hasSuffix("\n") ? text : text + "\n")
      return .done
    case .failure(let failure): return report(failure)
    }
  }
}
