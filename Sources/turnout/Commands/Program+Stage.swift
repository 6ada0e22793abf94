import Gateway
import HTTPModel

extension Program {
  func stage(_ arguments: StageArguments) -> ExitCode {
    let token = environment("TURNOUT_ADMIN_TOKEN").flatMap { $0.isEmpty ? nil : $0 }
    if let token, !FieldSyntax.isValue(Array(token.utf8).span) {
      return report(.other("TURNOUT_ADMIN_TOKEN holds bytes that no header may carry"))
    }
    let client = AdminClient(endpoint: arguments.admin, token: token, authorities: arguments.authorities)
    do {
      let answer = try client.put("/routes/\(arguments.procedure)/stage", body: arguments.change.json.bytes)
      guard answer.status == 200 else { return report(.other(Self.reason(of: answer))) }
    } catch {
      return report(.other("no answer from the admin endpoint \(arguments.admin.text): \(error.reason)"))
    }
    let share = arguments.change.percent.map { " at \(Self.decimal($0))%" } ?? ""
    console.out("\(arguments.procedure): \(arguments.change.stage)\(share)\n")
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
