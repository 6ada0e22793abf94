import Gateway

extension Program {
  func explain(_ arguments: ExplainArguments, on gateway: any GatewayProgram) -> ExitCode {
    var request = ExplainedRequest(
      method: arguments.method, target: arguments.target, fields: arguments.fields.map { ($0.name, $0.value) },
      body: arguments.data.map { Array($0.utf8) })
    if let admin = arguments.admin {
      do throws(ProgramError) {
        request.stages = try status(of: admin).routes.map { ExplainedStage($0) }
      } catch {
        return report(.other(error.message))
      }
    }
    request.stage = arguments.stage
    switch gateway.explain(configPath: arguments.config, request: request) {
    case .success(let text):
      console.out(text.hasSuffix("\n") ? text : text + "\n")
      return .done
    case .failure(let failure): return report(failure)
    }
  }
}

extension ExplainedStage {
  fileprivate init(_ status: RouteStatus) {
    self.init(
      procedure: status.procedure, stage: status.effective.stage, percent: status.effective.percent,
      isTripped: status.trip?.state == "tripped")
  }
}
