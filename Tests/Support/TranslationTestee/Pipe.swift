import Glibc

/// Requests from stdin, answers to stdout; answers are written when the requests at hand are done.
struct Pipe {
  struct Failure: Error {
    let reason: String
  }

  static let maximumContent = 64 << 20

  private var input: [UInt8] = []
  private var start = 0
  private var output: [UInt8] = []

  /// The next request; nil at the end of the input.
  mutating func next() throws(Failure) -> (kind: Character, content: [UInt8])? {
    while true {
      if input.count - start >= 5 {
        let length = (1...4).reduce(0) { $0 | Int(input[start + $1]) << (($1 - 1) * 8) }
        guard length <= Self.maximumContent else { throw Failure(reason: "a request of \(length) bytes") }
        if input.count - start - 5 >= length {
          let kind = Character(Unicode.Scalar(input[start]))
          let content = Array(input[(start + 5)..<(start + 5 + length)])
          start += 5 + length
          return (kind, content)
        }
      }
      try flush()
      guard try read() else {
        guard start == input.count else { throw Failure(reason: "the input ends inside a request") }
        return nil
      }
    }
  }

  private mutating func read() throws(Failure) -> Bool {
    input.removeSubrange(..<start)
    start = 0
    var block = [UInt8](repeating: 0, count: 1 << 16)
    let count = block.withUnsafeMutableBytes { Glibc.read(0, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw Failure(reason: "stdin cannot be read") }
    input += block.prefix(count)
    return count > 0
  }

  mutating func answer(_ status: UInt8, _ content: [UInt8]) throws(Failure) {
    output.append(status)
    for shift in [0, 8, 16, 24] { output.append(UInt8(truncatingIfNeeded: content.count >> shift)) }
    output += content
    if output.count >= 1 << 16 { try flush() }
  }

  private mutating func flush() throws(Failure) {
    var sent = 0
    while sent < output.count {
      let count = output.withUnsafeBytes { Glibc.write(1, $0.baseAddress?.advanced(by: sent), output.count - sent) }
      guard count > 0 else { throw Failure(reason: "stdout cannot be written") }
      sent += count
    }
    output.removeAll(keepingCapacity: true)
  }
}
