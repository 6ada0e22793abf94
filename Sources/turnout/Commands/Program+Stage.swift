import Gateway
import HTTPModel
import JSONValues

extension Program {
  func stage(_ arguments: StageArguments) -> ExitCode {
    if arguments.procedure.hasSuffix(Self.allMethods) { return stageAll(arguments) }
    let share = arguments.change.percent.map { " at \(Self.decimal($0))%" } ?? ""
    return send(
      .put, "\(arguments.procedure)/stage", arguments.change.json, to: arguments.admin,
      said: "\(arguments.procedure): \(arguments.change.stage)\(share)")
  }

  func clearStage(_ arguments: ClearArguments) -> ExitCode {
    if arguments.procedure.hasSuffix(Self.allMethods) { return clearAll(arguments) }
    let reason = arguments.reason.isEmpty ? [] : [JSONValue.Member("reason", .string(arguments.reason))]
    return send(
      .delete, "\(arguments.procedure)/stage", .object(reason), to: arguments.admin,
      said: "\(arguments.procedure): as the file says")
  }

  func hold(_ arguments: HoldArguments) -> ExitCode {
    do throws(ProgramError) {
      let answer = try adminClient(arguments.admin).answer(.get, "/routes/\(arguments.procedure)")
      if (try? JSONValue(parsing: answer))?["ramp"] == .null {
        return report(.other("\(arguments.procedure) has no ramp: there is nothing to hold"))
      }
    } catch {
      return report(.other(error.message))
    }
    return send(
      .put, "\(arguments.procedure)/hold", arguments.change.json, to: arguments.admin,
      said: "\(arguments.procedure): \(arguments.change.isHeld ? "the ramp is held" : "the ramp goes on")")
  }

  /// Changes something of a route.
  ///
  /// - Parameter said: what is printed when it is done.
  private func send(
    _ method: HTTPMethod, _ path: String, _ body: JSONValue, to admin: AdminURL, said: String
  ) -> ExitCode {
    let answer: [UInt8]
    do throws(ProgramError) {
      answer = try adminClient(admin).answer(method, "/routes/\(path)", body: body.bytes)
    } catch {
      return report(.other(error.message))
    }
    console.out("\(said)\n")
    let told = try? JSONValue(parsing: answer)
    for warning in GatewayStatus.warnings(of: told) { console.error("turnout: warning: \(warning)\n") }
    if case .bool(false)? = told?["saved"] {
      console.error("turnout: the state file cannot be written: until it can, a restart would forget this\n")
    }
    return .done
  }

  /// `10` and not `10.0`.
  private static func decimal(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
