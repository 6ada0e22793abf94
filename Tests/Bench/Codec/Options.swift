/// What the arguments ask for.
struct Options {
  enum Direction: String, CaseIterable {
    case decode
    case encode
  }

  var seed: UInt64 = 1
  /// Of processor time for each line of the table.
  var seconds = 2.0
  var sizes = SizeClass.allCases
  var directions = Direction.allCases
  /// Times this codec alone: for profilers.
  var isAlone = false
  /// Passes over the documents instead of a time: for tools that count instructions.
  var rounds: Int?

  static let usage = """
    turnout-bench [--seed N] [--seconds N] [--size 300B|1KB|10KB|100KB|1MB] [--direction decode|encode] [--alone] [--rounds N]

      --seed N       the documents are those of this seed (1)
      --seconds N    processor time for each line (2)
      --size S       documents of one size; may be repeated (all)
      --direction D  decode: from JSON, encode: to JSON (both)
      --alone        times this codec only, for profilers
      --rounds N     passes over the documents instead of a time
    """

  /// Nil for what cannot be understood, and for a call for help.
  init?(_ arguments: ArraySlice<String>) {
    var rest = arguments
    var wanted: [SizeClass] = []
    while let name = rest.popFirst() {
      if name == "--alone" {
        isAlone = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch name {
      case "--seed":
        guard let number = UInt64(value) else { return nil }
        seed = number
      case "--seconds":
        guard let number = Double(value), number > 0, number < 3_600 else { return nil }
        seconds = number
      case "--rounds":
        guard let number = Int(value), number > 0, number < 1_000_000 else { return nil }
        rounds = number
      case "--size":
        guard let size = SizeClass(rawValue: value) else { return nil }
        wanted.append(size)
      case "--direction":
        guard let direction = Direction(rawValue: value) else { return nil }
        directions = [direction]
      default: return nil
      }
    }
    if !wanted.isEmpty { sizes = wanted }
  }
}
