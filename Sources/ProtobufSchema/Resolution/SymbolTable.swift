/// What a full name stands for.
enum Symbol: Equatable {
  /// Index of the message.
  case message(Int)
  /// Index of the enum.
  case enumeration(Int)
  case service
}

/// All declared names, without a leading dot.
struct SymbolTable {
  private var symbols: [String: (symbol: Symbol, file: Int)] = [:]

  /// The file that declares a name already, or nil after declaring it.
  mutating func declare(_ fullName: String, _ symbol: Symbol, file: Int) -> Int? {
    if let existing = symbols[fullName] { return existing.file }
    symbols[fullName] = (symbol, file)
    return nil
  }

  subscript(_ fullName: String) -> Symbol? { symbols[fullName]?.symbol }

  /// What a reference means inside a scope: a leading dot makes it absolute, else the innermost scope that has it
  /// counts (FieldDescriptorProto.type_name).
  func resolve(_ reference: String, from scope: String) -> Symbol? {
    if reference.hasPrefix(".") { return self[String(reference.dropFirst())] }
    var scope = Substring(scope)
    while !scope.isEmpty {
      if let symbol = self["\(scope).\(reference)"] { return symbol }
      scope = scope.lastIndex(of: ".").map { scope[..<$0] } ?? ""
    }
    return self[reference]
  }
}

/// The rules for names in declarations (Protobuf language, lexical elements).
enum Identifier {
  static func isValid(_ name: String) -> Bool {
    guard let first = name.utf8.first, !isDigit(first) else { return false }
    return name.utf8.allSatisfy { isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "_") }
  }

  /// Identifiers joined by dots; nothing at all is a valid package.
  static func isValidPackage(_ name: String) -> Bool {
    name.isEmpty || name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isValid(String($0)) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
  private static func isLetter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
  }
}
