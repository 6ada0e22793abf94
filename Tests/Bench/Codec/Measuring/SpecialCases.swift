import ProtoJSON

/// The lines below the table: this codec alone.
enum SpecialCases {
  private static let rounds = 2_000

  static func run(_ subject: inout Subject) throws {
    print("\nmessages that need memory of their own, this codec alone: ns, allocs for one message")
    for special in SpecialCase.allCases {
      var cells: [String] = []
      if let json = special.json { cells.append("from JSON \(try measure(.decode, json, &subject))") }
      cells.append("to JSON \(try measure(.encode, try special.wire(&subject), &subject))")
      let name = special.rawValue
      print(name + String(repeating: " ", count: max(1, 24 - name.count)) + cells.joined(separator: "   "))
    }
  }

  private static func measure(
    _ direction: Options.Direction, _ input: [UInt8], _ subject: inout Subject
  ) throws -> String {
    for _ in 0..<100 { _ = try subject.run(direction, input) }
    let watch = Stopwatch()
    for _ in 0..<rounds { _ = try subject.run(direction, input) }
    let (time, allocations) = (watch.nanoseconds, watch.allocations)
    return "\(Int(time) / rounds), \(Double(allocations) / Double(rounds))"
  }
}
