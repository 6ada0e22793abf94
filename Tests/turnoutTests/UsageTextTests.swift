import Testing

@testable import turnout

/// The help says what the parser takes, and nothing else.
@Suite struct UsageTextTests {
  /// Options as words: `--name`, `-H`.
  private func options(in text: String) -> Set<String> {
    Set(text.matches(of: #/(?:^|[^\w-])(--[a-z]+|-[A-Z])\b/#).map { String($0.output.1) })
  }

  /// The paragraph that `usage:` begins.
  private func usage(_ command: CommandName) -> String {
    let text = UsageText.text(of: command)
    return text.firstRange(of: "\n\n").map { String(text[..<$0.lowerBound]) } ?? text
  }

  private static let commands = CommandName.allCases.filter { $0 != .help }

  @Test(arguments: commands)
  func hasEachOptionOfTheCommand(command: CommandName) {
    let known = Set(command.options.map(\.name))
    let text = UsageText.text(of: command)
    #expect(options(in: usage(command)) == known)
    #expect(options(in: text) == known)
    // Each has a line of its own that says what it is for.
    for option in known {
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("  \(option) ") && $0.count > 20 }
      #expect(lines.count == 1, "\(option)")
    }
  }

  @Test(arguments: commands)
  func namesTheExitCodes(command: CommandName) {
    let text = UsageText.text(of: command)
    #expect(text.contains("\nExit codes: 0 ") && text.contains(", 1 ") && text.contains(", 2 wrong usage."))
  }

  @Test(arguments: commands)
  func beginsWithTheUsageThatAMistakeShows(command: CommandName) {
    #expect(UsageText.hint(for: command).hasPrefix("usage: turnout \(command.rawValue)"))
    #expect(UsageText.text(of: command).hasSuffix(".\n") || UsageText.text(of: command).contains("\n  turnout "))
  }

  @Test func theOverviewHasEveryCommandWithItsOptions() {
    for command in Self.commands {
      let lines = UsageText.overview.split(separator: "\n").filter { $0.hasPrefix("  turnout \(command.rawValue)") }
      #expect(!lines.isEmpty, "\(command)")
      var found = options(in: lines.joined())
      // What these two stand for is said above the commands.
      if lines.contains(where: { $0.contains("[ADMIN]") }) { found.formUnion(["--admin", "--ca"]) }
      #expect(found == Set(command.options.map(\.name)), "\(command)")
    }
  }

  @Test(arguments: [nil] + commands)
  func fitsATerminal(command: CommandName?) {
    for line in UsageText.text(of: command).split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
  }
}
