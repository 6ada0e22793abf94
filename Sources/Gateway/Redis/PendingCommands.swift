import EventLoops
import Redis

/// The commands that were sent and not answered, in their order.
struct PendingCommands {
  typealias Completion = (Result<RedisValue, RedisFailure>) -> Void

  struct Command {
    /// Nil: whoever waited has been told already.
    var completion: Completion?
    let sentAt: Instant
    let deadline: Instant
  }

  private var commands: [Command] = []
  private var first = 0

  var count: Int { commands.count - first }
  var oldest: Command? { count > 0 ? commands[first] : nil }

  mutating func append(_ command: Command) { commands.append(command) }

  /// Takes the oldest out.
  mutating func takeOldest() -> Command? {
    guard count > 0 else { return nil }
    let command = commands[first]
    commands[first].completion = nil
    first += 1
    if first == commands.count {
      commands.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 1_024 {
      commands.removeFirst(first)
      first = 0
    }
    return command
  }

  /// Those who wait no longer: their commands stay in their places, because answers come in order.
  mutating func takeExpired(at now: Instant) -> [Completion] {
    var expired: [Completion] = []
    for index in commands.indices.dropFirst(first) where commands[index].deadline <= now {
      if let completion = commands[index].completion.take() { expired.append(completion) }
    }
    return expired
  }

  /// When the next one will have waited long enough.
  var nextDeadline: Instant? {
    commands.dropFirst(first).lazy.filter { $0.completion != nil }.map(\.deadline).min()
  }

  /// Takes all out.
  mutating func takeAll() -> [Completion] {
    let all = commands.dropFirst(first).compactMap(\.completion)
    commands = []
    first = 0
    return all
  }
}
