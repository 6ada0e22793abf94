import Bytes
import ProtoJSON

/// One line of the table: all documents of a size in one direction, by each codec in turn.
struct Race {
  /// Medians over the rounds.
  struct Score {
    var nanosecondsPerMessage: Double
    var allocationsPerMessage: Double
  }

  var ours = Score(nanosecondsPerMessage: 0, allocationsPerMessage: 0)
  var messages: Score?
  var binary: Score?

  init(
    _ inputs: [[UInt8]], _ direction: Options.Direction, _ options: Options, _ subject: inout Subject,
    _ peer: borrowing Peer
  ) throws {
    // Small passes are repeated, so that a round is long against the clock.
    let bytes = inputs.reduce(0) { $0 + $1.count }
    let repeats = options.rounds != nil ? 1 : max(1, 1_000_000 / max(1, bytes))
    var times: [[Double]] = [[], [], []]
    var counts: [Double] = [0, 0, 0]
    var spent = 0.0
    var isWarm = false
    let functions: [Peer.Function] =
      options.isAlone ? [] : direction == .decode ? [.decode, .decodeBinary] : [.encode, .encodeBinary]
    while options.rounds.map({ times[0].count < $0 }) ?? (spent < options.seconds * 1e9 || times[0].count < 3) {
      let watch = Stopwatch()
      for _ in 0..<repeats { for input in inputs { _ = try subject.run(direction, input) } }
      note(watch, 0)
      for (index, function) in functions.enumerated() {
        let watch = Stopwatch()
        for (number, input) in inputs.enumerated() where peer.run(function, input) == nil {
          throw Corpus.Fault.differs(document: number, what: peer.fault)
        }
        note(watch, index + 1)
      }
      isWarm = true
    }
    func note(_ watch: Stopwatch, _ index: Int) {
      let time = watch.nanoseconds
      let allocations = watch.allocations
      spent += time
      // The first round warms caches and buffers.
      guard isWarm else { return }
      let total = Double(inputs.count * (index == 0 ? repeats : 1))
      times[index].append(time / total)
      counts[index] = Double(allocations) / total
    }
    func score(_ index: Int) -> Score {
      let sorted = times[index].sorted()
      return Score(nanosecondsPerMessage: sorted[sorted.count / 2], allocationsPerMessage: counts[index])
    }
    ours = score(0)
    if !options.isAlone {
      messages = score(1)
      binary = score(2)
    }
  }
}
