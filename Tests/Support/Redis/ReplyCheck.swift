import Bytes
import Redis

/// What must hold of any bytes that a server answers with.
package enum ReplyCheck {
  /// What is read from some pieces, and what ended it.
  private struct Transcript: Equatable {
    var values: [RedisValue] = []
    var fault: RedisFault.Kind?
  }

  private static let limits: RedisReplyReader.Limits = {
    var limits = RedisReplyReader.Limits()
    limits.values = 200
    return limits
  }()

  /// The first property that does not hold.
  package static func fault(_ bytes: [UInt8]) -> String? {
    guard bytes.count <= limits.bytes else { return nil }
    let whole = read([bytes[...]])
    let single = read(bytes.indices.map { bytes[$0...$0] })
    if whole != single { return "\(whole) in one piece, \(single) byte by byte" }
    let cut = bytes.count / 2
    let halves = read([bytes[..<cut], bytes[cut...]])
    if whole != halves { return "\(whole) in one piece, \(halves) in two" }
    for value in whole.values where size(value) > limits.values { return "a reply of \(size(value)) values" }
    return nil
  }

  private static func read(_ pieces: [ArraySlice<UInt8>]) -> Transcript {
    let reader = RedisReplyReader(limits: limits)
    var transcript = Transcript()
    do throws(RedisFault) {
      for piece in pieces {
        try reader.feed(Array(piece).span)
        while let value = try reader.next() { transcript.values.append(value) }
      }
    } catch {
      transcript.fault = error.kind
    }
    return transcript
  }

  private static func size(_ value: RedisValue) -> Int {
    1 + (value.elements ?? []).reduce(0) { $0 + size($1) }
  }
}
