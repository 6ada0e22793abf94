import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Raw answers as they come")
struct RawReplyTests {
  static func varint(_ value: Int) -> [UInt8] {
    var buffer = ByteBuffer()
    buffer.append(varint: UInt64(value))
    return buffer.bytes
  }

  static func field(_ number: Int, _ content: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(content.count) + content
  }

  static let type = field(1, Array("a/b".utf8))
  static let data = [UInt8](repeating: 7, count: 300)

  let whole: RawReply
  let inField: RawReply

  init() throws {
    let get = HTTPRule(method: "GET", path: "/v1/{id}")
    whole = try #require(try Fixture("p.GetReq", "google.api.HttpBody", get).binding.rawReply)
    let rule = HTTPRule(method: "GET", path: "/v1/{id}", responseBody: "scan")
    inField = try #require(try Fixture("p.GetReq", "p.ScanReq", rule).binding.rawReply)
  }

  func begin(_ reply: RawReply, _ wire: [UInt8], total: Int? = nil) -> String {
    switch reply.begin(wire.span, total: total) {
    case .needsMore: "more"
    case .whole: "whole"
    case .data(let data): "\(data.contentType) \(data.start)+\(data.length)"
    }
  }

  @Test("at every cut: more is needed until the data begins, then the same is said")
  func cuts() {
    let body = Self.type + Self.field(2, Self.data)
    let messages: [(RawReply, [UInt8], String)] = [
      (whole, body, "a/b 8+300"), (whole, [0x20, 0x05] + body, "a/b 10+300"),
      (whole, Self.field(9, [1, 2, 3]) + body, "a/b 13+300"), (whole, body + [0x20, 5], "a/b 8+300"),
      (whole, Self.field(2, Self.data), "application/octet-stream 3+300"),
      (whole, Self.field(1, [0x0A]) + Self.field(2, Self.data), "application/octet-stream 6+300"),
      (inField, Self.field(1, [0x70]) + Self.field(2, body), "a/b 14+300"),
      (inField, Self.field(2, Self.field(2, Self.data)), "application/octet-stream 6+300"),
      (inField, Self.field(2, body + [0x20, 5]) + Self.field(7, [1]), "a/b 11+300"),
    ]
    for (reply, message, expected) in messages {
      for total in [nil, message.count] {
        var said = false
        for length in 0...message.count {
          let answer = begin(reply, Array(message.prefix(length)), total: total)
          said = said || answer != "more"
          #expect(answer == (said ? expected : "more"), "\(length) of \(message.count)")
        }
        #expect(said)
      }
    }
  }

  @Test("what has to be whole to be understood")
  func wholes() {
    let late = Self.field(2, Self.data) + Self.type
    #expect(begin(whole, late, total: late.count) == "whole")
    #expect(begin(inField, Self.field(2, late)) == "whole")
    #expect(begin(whole, [], total: 0) == "whole")
    #expect(begin(whole, [], total: nil) == "more")
    #expect(begin(whole, Self.type, total: Self.type.count) == "whole")
    #expect(begin(inField, Self.field(2, Self.type)) == "whole")
    #expect(begin(inField, Self.field(1, [1]), total: 3) == "whole")
    // A longer field than its surroundings, a group, what is no tag.
    #expect(begin(inField, [0x12, 4, 0x12, 9]) == "whole")
    #expect(begin(whole, [0x12, 9, 1], total: 5) == "whole")
    #expect(begin(whole, [0x23, 0x24]) == "whole")
    #expect(begin(whole, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]) == "whole")
    #expect(begin(whole, [0x12] + Array(repeating: 0xFF, count: 9) + [1]) == "whole")
    #expect(begin(whole, [0x00]) == "whole")
    #expect(begin(whole, [0x0A, 0xFF, 0xFF, 0xFF, 0x7F]) == "whole")
  }

  @Test("nothing behind the data may contradict it")
  func ends() throws {
    let body = Self.type + Self.field(2, Self.data)
    func ends(_ reply: RawReply, _ message: [UInt8], _ tail: [UInt8], total: Int?) throws -> Bool {
      guard case .data(let data) = reply.begin(message.span, total: total) else {
        Issue.record("no data")
        return false
      }
      return reply.ends(data, with: tail.span)
    }
    for tail in [[], [0x20, 5], Self.field(3, [1]), Self.field(9, [0xFF])] as [[UInt8]] {
      #expect(try ends(whole, body + tail, tail, total: nil))
      #expect(try ends(whole, body + tail, tail, total: body.count + tail.count))
      #expect(try ends(inField, Self.field(2, body + tail), tail, total: nil))
    }
    let bad: [[UInt8]] = [Self.type, Self.field(2, [1]), Self.field(2, []), [0x08, 1], [0x20], [0xFF], [0x24]]
    for tail in bad {
      #expect(try !ends(whole, body + tail, tail, total: nil), "\(tail)")
      #expect(try !ends(inField, Self.field(2, body + tail), tail, total: nil), "\(tail)")
    }
    // Behind the field: others may follow, itself and its siblings not.
    let message = Self.field(2, body)
    #expect(try ends(inField, message, Self.field(1, [0x70]), total: nil))
    #expect(try !ends(inField, message, message, total: nil))
    #expect(try !ends(inField, message, Self.field(3, [0x70]), total: nil))
    #expect(try !ends(inField, Self.field(2, body + [0x20, 5]), [0x20], total: nil))
  }

  @Test("answers that are messages are not read so")
  func messages() throws {
    let binding = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}")).binding
    #expect(binding.rawReply == nil)
  }
}
