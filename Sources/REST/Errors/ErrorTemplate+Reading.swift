import Bytes
import RPC

/// Errors of the template's shape, read.
extension ErrorTemplate {
  /// What is looked for in a JSON value.
  package indirect enum Shape: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
      package let name: String
      package let shape: Shape

      package init(_ name: String, _ shape: Shape) {
        self.name = name
        self.shape = shape
      }
    }

    case any
    /// A text or a bare word with one place, and what stands around it.
    case place(before: String, Slot, after: String)
    case list([Shape])
    case object([Member])
  }

  /// What an error said at the places of the template.
  struct Findings {
    var message: String?
    /// What stands for a code: its name, gRPC's number, an HTTP status.
    var codeName: String?
    var number: String?
    var status: String?
    var reason: String?
    /// Where the elements of the details lie.
    var details: [Range<Int>] = []

    var isEmpty: Bool {
      message == nil && codeName == nil && number == nil && status == nil && reason == nil && details.isEmpty
    }

    /// The code that they tell; nil for none.
    var code: Code? {
      for name in [codeName, reason] {
        if let code = name.flatMap({ StatusTable.code(named: $0) }) { return code }
      }
      if let code = number.flatMap({ UInt8($0) }).flatMap({ Code(rawValue: $0) }) { return code }
      guard let status = status.flatMap({ Int($0) }), (400...599).contains(status) else { return nil }
      return StatusTable.code(ofRESTStatus: status)
    }
  }

  /// Reads the body of an error; what is of another shape than the template has nothing at its places.
  ///
  /// - Returns: nil for what is no JSON.
  func read(_ body: Span<UInt8>) -> Findings? {
    var findings = Findings()
    var scanner = JSONScanner(body)
    do throws(JSONFault) {
      try Self.collect(shape, &scanner, into: &findings)
      try scanner.finish()
    } catch {
      return nil
    }
    return findings
  }

  private static func collect(
    _ shape: Shape, _ scanner: inout JSONScanner, into findings: inout Findings
  ) throws(JSONFault) {
    var isFirst = true
    switch (shape, scanner.peek()) {
    case (.object(let members), UInt8(ascii: "{")):
      try scanner.expect(UInt8(ascii: "{"))
      while let name = try scanner.nextMember(&isFirst) {
        try collect(members.first { $0.name == name }?.shape ?? .any, &scanner, into: &findings)
      }
    case (.list(let elements), UInt8(ascii: "[")):
      try scanner.expect(UInt8(ascii: "["))
      var index = 0
      while try scanner.nextElement(&isFirst) {
        try collect(index < elements.count ? elements[index] : .any, &scanner, into: &findings)
        index += 1
      }
    case (.place(_, .details, _), UInt8(ascii: "[")): findings.details = try ErrorDocument.elements(&scanner)
    case (.place, UInt8(ascii: "[")), (.place, UInt8(ascii: "{")), (.place, UInt8(ascii: "n")):
      try scanner.skipValue()
    case (.place(let before, let slot, let after), let first):
      let text = first == UInt8(ascii: "\"") ? try scanner.string() : try scanner.bareWord()
      note(text, before, slot, after, in: &findings)
    default: try scanner.skipValue()
    }
  }

  private static func note(
    _ text: String, _ before: String, _ slot: Slot, _ after: String, in findings: inout Findings
  ) {
    var inner = text[...]
    // The old API's own words may be others than those that the gateway would write.
    if text.hasPrefix(before), text.dropFirst(before.count).hasSuffix(after) {
      inner = text.dropFirst(before.count).dropLast(after.count)
    }
    guard !inner.isEmpty else { return }
    let found = String(inner)
    switch slot {
    case .code, .upperCaseCode: findings.codeName = findings.codeName ?? found
    case .number: findings.number = findings.number ?? found
    case .status: findings.status = findings.status ?? found
    case .message: findings.message = findings.message ?? found
    case .reason: findings.reason = findings.reason ?? found
    case .details: break
    }
  }
}
