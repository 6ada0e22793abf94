import Gateway

extension Program {
  func stage(_ arguments: StageArguments) -> ExitCode {
    do throws(ProgramError) {
      let client = try adminClient(arguments.admin)
      _ = try client.answer("/routes/\(arguments.procedure)/stage", putting: arguments.change.json.bytes)
    } catch {
      return report(.other(error.message))
    }
    let share = arguments.change.percent.map { " at \(Self.decimal($0))%" } ?? ""
    console.out("\(arguments.procedure): \(arguments.change.stage)\(share)\n")
    return .done
  }

  /// `10` and not `10.0`.
  private static func decimal(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
