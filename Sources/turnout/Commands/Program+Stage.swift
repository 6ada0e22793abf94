import Gateway
import HTTPModel

extension Program {
  func stage(_ arguments: StageArguments) -> ExitCode {
    let share = arguments.change.percent.map { " at \(Self.decimal($0))%" } ?? ""
    return send(
      .put, "\(arguments.procedure)/stage", arguments.change.json, to: arguments.admin,
      said: "\(arguments.procedure): \(arguments.change.stage)\(share)")
  }

  func clearStage(_ arguments: ClearArguments) -> ExitCode {
    let reason = arguments.reason.isEmpty ? [] : [JSONValue.Member("reason", .string(arguments.reason))]
    return send(
      .delete, "\(arguments.procedure)/stage", .object(reason), to: arguments.admin,
      said: "\(arguments.procedure): as the file says")
  }

  func hold(_ arguments: HoldArguments) -> ExitCode {
    send(
      .put, "\(arguments.procedure)/hold", arguments.change.json, to: arguments.admin,
      said: "\(arguments.procedure): \(arguments.change.isHeld ? "the ramp is held" : "the ramp goes on")")
  }

  /// Changes something of a route.
  ///
  /// - Parameter said: what is printed when it is done.
  private func send(
    _ method: HTTPMethod, _ path: String, _ body: JSONValue, to admin: AdminURL, said: String
  ) -> ExitCode {
    let token = environment("TURNOUT_ADMIN_TOKEN").flatMap { $0.isEmpty ? nil : $0 }
    if let token, !FieldSyntax.isValue(Array(token.utf8).span) {
      return report(.other("TURNOUT_ADMIN_TOKEN holds bytes that no header may carry"))
    }
    let client = AdminClient(endpoint: admin, token: token)
    do {
      let answer = try client.send(method, "/routes/\(path)", body: body.bytes)
      guard answer.status == 200 else { return report(.other(Self.reason(of: answer))) }
    } catch {
      return report(.other("no answer from the admin endpoint \(admin.text): \(error.reason)"))
    }
    console.out("\(said)\n")
    return .done
  }

  /// The endpoint's own words, else the status alone: whoever answers at that port may not be Turnout.
  private static func reason(of answer: AdminClient.Answer) -> String {
    guard let message = (try? JSONValue(parsing: answer.body))?["error"]?.text else {
      return "the admin endpoint answered \(answer.status)"
    }
    return "\(message.map { $0.isNewline ? " " : String($0) }.joined()) (status \(answer.status))"
  }

  /// `10` and not `10.0`.
  private static func decimal(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
