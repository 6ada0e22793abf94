import Diagnostics
import Gateway
import HTTPModel

extension Command {
  /// Reads the arguments behind the program's name.
  init(parsing arguments: [String]) throws(UsageError) {
    guard let first = arguments.first else {
      throw UsageError(message: "a command is missing", command: nil)
    }
    let rest = arguments.dropFirst()
    switch first {
    case "--version":
      guard rest.isEmpty else { throw UsageError(message: "--version stands alone", command: nil) }
      self = .version
      return
    case "--help", "-h":
      self = .help(nil)
      return
    default: break
    }
    guard let name = CommandName(rawValue: first) else {
      let known = CommandName.allCases.map(\.rawValue) + ["--version", "--help"]
      let hint = Nearest.match(first, in: known).map { "; did you mean \($0)?" } ?? ""
      let kind = first.hasPrefix("-") ? "option" : "command"
      throw UsageError(message: "unknown \(kind) \(first)\(hint)", command: nil)
    }
    let scanner = try ArgumentScanner(rest, for: name, options: name.options)
    self = scanner.asksForHelp ? .help(name) : try Command(name, scanner)
  }

  private init(_ name: CommandName, _ scanner: ArgumentScanner) throws(UsageError) {
    switch name {
    case .serve: self = .serve(config: try scanner.configuration())
    case .check: self = .check(config: try scanner.configuration())
    case .routes where scanner.has("--admin") || scanner.has("--ca"):
      _ = try scanner.operands()
      if scanner.has("--config") { throw scanner.error("--config and --admin do not go together") }
      self = .runningRoutes(admin: try scanner.admin(), asJSON: scanner.has("--json"))
    case .routes: self = .routes(config: try scanner.configuration(), asJSON: scanner.has("--json"))
    case .explain: self = .explain(try ExplainArguments(scanner))
    case .stage where scanner.has("--clear"): self = .clearStage(try ClearArguments(scanner))
    case .stage: self = .stage(try StageArguments(scanner))
    case .hold: self = .hold(try HoldArguments(scanner))
    case .status:
      _ = try scanner.operands()
      self = .status(
        StatusArguments(
          admin: try scanner.admin(), isJSON: scanner.has("--json"), isWatching: scanner.has("--watch")))
    case .report:
      _ = try scanner.operands()
      self = .report(admin: try scanner.admin())
    case .demo:
      _ = try scanner.operands()
      self = .demo(hasBugs: scanner.has("--bug"))
    case .help: self = .help(try Self.topic(scanner))
    }
  }

  private static func topic(_ scanner: ArgumentScanner) throws(UsageError) -> CommandName? {
    guard let word = scanner.operands.first else { return nil }
    guard scanner.operands.count == 1 else { throw scanner.error("help is for one command at a time") }
    guard let name = CommandName(rawValue: word) else {
      let nearest = Nearest.match(word, in: CommandName.allCases.map(\.rawValue))
      throw scanner.error("unknown command \(word)\(nearest.map { "; did you mean \($0)?" } ?? "")")
    }
    return name
  }
}

extension CommandName {
  /// All that the command takes; a test compares them with its help.
  var options: [ArgumentScanner.Option] {
    switch self {
    case .serve, .check: [.init(name: "--config")]
    case .routes:
      [.init(name: "--config"), .init(name: "--json", takesValue: false)] + ArgumentScanner.adminOptions
    case .explain:
      [
        .init(name: "--config"), .init(name: "-H", mayRepeat: true), .init(name: "--data"), .init(name: "--stage"),
      ] + ArgumentScanner.adminOptions
    case .stage:
      [
        .init(name: "--percent"), .init(name: "--clear", takesValue: false), .init(name: "--reason"),
      ] + ArgumentScanner.adminOptions
    case .hold: [.init(name: "--off", takesValue: false), .init(name: "--reason")] + ArgumentScanner.adminOptions
    case .status:
      [.init(name: "--json", takesValue: false), .init(name: "--watch", takesValue: false)]
        + ArgumentScanner.adminOptions
    case .report: ArgumentScanner.adminOptions
    case .demo: [.init(name: "--bug", takesValue: false)]
    case .help: []
    }
  }
}

extension ExplainArguments {
  fileprivate init(_ scanner: ArgumentScanner) throws(UsageError) {
    let operands = try scanner.operands("METHOD", "TARGET")
    let (method, target) = (operands[0], operands[1])
    guard FieldSyntax.isToken(Array(method.utf8).span) else {
      throw scanner.error("\"\(method)\" is not an HTTP method")
    }
    guard target.hasPrefix("/") else { throw scanner.error("TARGET must begin with /, as in /v1/tags?page=2") }
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
      throw scanner.error("TARGET must be percent-encoded: no blanks, no #, ASCII only")
    }
    self.init(config: try scanner.required("--config", "FILE"), method: method, target: target)
    for text in scanner.all("-H") { fields.append(try Self.field(text, scanner)) }
    data = scanner.value("--data")
    stage = try scanner.value("--stage").map { (word) throws(UsageError) in try StageArguments.stage(word, scanner) }
    if scanner.has("--admin") || scanner.has("--ca") {
      if stage != nil { throw scanner.error("--stage and --admin do not go together") }
      admin = try scanner.admin()
    }
  }

  private static func field(_ text: String, _ scanner: ArgumentScanner) throws(UsageError) -> Field {
    guard let colon = text.firstIndex(of: ":") else { throw scanner.error("-H needs 'name: value'") }
    let name = String(text[..<colon])
    let value = String(text[text.index(after: colon)...].drop { $0 == " " })
    guard FieldSyntax.isToken(Array(name.utf8).span), FieldSyntax.isValue(Array(value.utf8).span) else {
      throw scanner.error("-H '\(text)' is not a legal header field")
    }
    return Field(name: name, value: value)
  }
}

extension StageArguments {
  /// In the order of a migration.
  static let stages = ["rest", "shadow", "canary", "rpc"]

  fileprivate init(_ scanner: ArgumentScanner) throws(UsageError) {
    let operands = try scanner.operands("PROCEDURE", "STAGE")
    let stage = try Self.stage(operands[1], scanner)
    self.init(
      procedure: try scanner.procedure(operands[0], mayBeAll: true),
      change: StageChange(
        stage: stage, percent: try Self.percent(scanner), reason: scanner.value("--reason") ?? ""),
      admin: try scanner.admin())
  }

  fileprivate static func stage(_ word: String, _ scanner: ArgumentScanner) throws(UsageError) -> String {
    if stages.contains(word) { return word }
    let cure = Nearest.match(word, in: stages).map { "did you mean \($0)?" } ?? "rest, shadow, canary or rpc"
    throw scanner.error("unknown stage \"\(word)\"; \(cure)")
  }

  /// 0 to 100 with decimals, `%` or not.
  private static func percent(_ scanner: ArgumentScanner) throws(UsageError) -> Double? {
    guard let text = scanner.value("--percent") else { return nil }
    let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
    guard digits.utf8.allSatisfy({ $0 &- 48 < 10 || $0 == UInt8(ascii: ".") }), let number = Double(digits),
      number <= 100
    else { throw scanner.error("--percent \"\(text)\" is not a number from 0 to 100") }
    return number
  }
}

extension ClearArguments {
  fileprivate init(_ scanner: ArgumentScanner) throws(UsageError) {
    let operands = try scanner.operands("PROCEDURE")
    if scanner.has("--percent") { throw scanner.error("--percent and --clear do not go together") }
    self.init(
      procedure: try scanner.procedure(operands[0], mayBeAll: true), reason: scanner.value("--reason") ?? "",
      admin: try scanner.admin())
  }
}

extension HoldArguments {
  fileprivate init(_ scanner: ArgumentScanner) throws(UsageError) {
    let operands = try scanner.operands("PROCEDURE")
    self.init(
      procedure: try scanner.procedure(operands[0]),
      change: HoldChange(isHeld: !scanner.has("--off"), reason: scanner.value("--reason") ?? ""),
      admin: try scanner.admin())
  }
}

/// What the commands that talk to a running gateway have in common.
extension ArgumentScanner {
  /// `pkg.Service/Method`, with a slash before it or without.
  ///
  /// - Parameter mayBeAll: whether `*` may stand for the methods.
  fileprivate func procedure(_ text: String, mayBeAll: Bool = false) throws(UsageError) -> String {
    let bare = text.hasPrefix("/") ? text.dropFirst() : text[...]
    let parts = bare.split(separator: "/", omittingEmptySubsequences: false)
    let names = mayBeAll && parts.last == "*" ? parts.dropLast() : parts[...]
    guard parts.count == 2, names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isNameByte) }) else {
      throw error("\"\(text)\" is not a procedure; write it like pkg.Service/Method")
    }
    return String(bare)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte &- 48 < 10 || (byte | 0x20) &- 97 < 26
  }
}
