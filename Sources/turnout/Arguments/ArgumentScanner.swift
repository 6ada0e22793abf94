import Diagnostics

/// Splits the arguments of one command into options and operands.
///
/// `--name value`, `--name=value`, `-H value`, `-Hvalue`; options may stand anywhere; `--` ends them.
struct ArgumentScanner {
  struct Option: Sendable {
    /// `--config`, or `-H`.
    var name: String
    var takesValue = true
    var mayRepeat = false
  }

  private(set) var operands: [String] = []
  private(set) var asksForHelp = false
  private var values: [String: [String]] = [:]
  private let command: CommandName

  init(_ arguments: ArraySlice<String>, for command: CommandName, options: [Option]) throws(UsageError) {
    self.command = command
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        return
      }
      guard argument.hasPrefix("-"), argument.count > 1 else {
        operands.append(argument)
        continue
      }
      if argument == "--help" || argument == "-h" {
        asksForHelp = true
        continue
      }
      try take(argument, from: &rest, options)
    }
  }

  private mutating func take(
    _ argument: String, from rest: inout ArraySlice<String>, _ options: [Option]
  ) throws(UsageError) {
    var name = argument
    var value: String?
    if !argument.hasPrefix("--") {
      name = String(argument.prefix(2))
      if argument.count > 2 { value = String(argument.dropFirst(2)) }
    } else if let sign = argument.firstIndex(of: "=") {
      name = String(argument[..<sign])
      value = String(argument[argument.index(after: sign)...])
    }
    guard let option = options.first(where: { $0.name == name }) else {
      let nearest = Nearest.match(name, in: options.map(\.name) + ["--help"])
      throw error("unknown option \(name)\(nearest.map { "; did you mean \($0)?" } ?? "")")
    }
    guard option.takesValue else {
      guard value == nil else { throw error("\(name) takes no value") }
      return try record("", for: option)
    }
    guard let given = value ?? rest.popFirst() else { throw error("\(name) needs a value") }
    try record(given, for: option)
  }

  private mutating func record(_ value: String, for option: Option) throws(UsageError) {
    guard option.mayRepeat || values[option.name] == nil else { throw error("\(option.name) is given twice") }
    values[option.name, default: []].append(value)
  }

  func all(_ name: String) -> [String] { values[name] ?? [] }
  func value(_ name: String) -> String? { values[name]?.first }
  func has(_ name: String) -> Bool { values[name] != nil }

  /// The value of an option that must be there and not empty.
  func required(_ name: String, _ placeholder: String) throws(UsageError) -> String {
    guard let value = value(name), !value.isEmpty else { throw error("\(name) \(placeholder) is missing") }
    return value
  }

  /// The file of `--config`, for commands without operands.
  func configuration() throws(UsageError) -> String {
    if value("--config") == nil, operands.count == 1 {
      throw error("the file goes behind --config: --config \(operands[0])")
    }
    _ = try operands()
    return try required("--config", "FILE")
  }

  /// Checks that there are exactly these operands.
  func operands(_ names: String...) throws(UsageError) -> [String] {
    if operands.count < names.count { throw error("\(names[operands.count]) is missing") }
    if operands.count > names.count { throw error("unexpected argument \"\(operands[names.count])\"") }
    return operands
  }

  func error(_ message: String) -> UsageError { UsageError(message: message, command: command) }
}
