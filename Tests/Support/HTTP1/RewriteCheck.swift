import Bytes
import HTTP1
import HTTPModel

/// Sends on what was accepted and reads it again, as the next hop would: one message must stay one message.
///
/// This is what request smuggling breaks.
package struct RewriteCheck {
  /// Requests that were sent on and came out as they went in.
  package private(set) var requests = 0
  /// The first difference.
  package private(set) var fault: String?

  /// What the next hop is told of one request.
  private struct Message: Equatable {
    var method = HTTPMethod.get
    var target: [UInt8] = []
    var authority: [UInt8] = []
    var fields: [String] = []
    var body: [UInt8] = []
    var trailers: [String] = []
  }

  /// One side of the check: a connection's parser and the message that it reads.
  private final class Reader {
    var parser = RequestHeadParser(limits: HeadLimits())
    let head = RequestHead()
    let trailers = FieldBlock()
    var framing = BodyFraming.none
    var body: [UInt8] = []

    /// The next whole message; nil when there is none.
    func next(_ input: inout ByteBuffer) -> Message? {
      body = []
      trailers.removeAll()
      do throws(HTTP1Error) {
        guard try parser.parse(&input, into: head) else { return nil }
        framing = try MessageFraming.ofRequest(head)
        _ = HopByHop.remove(from: head.fields)
        var reader = BodyReader(framing: framing, limits: HeadLimits())
        while true {
          switch try reader.next(&input, trailers: trailers) {
          case .needsMore: return nil
          case .data(let count):
            body += input.bytes.prefix(count)
            input.consume(count)
          case .end: return message
          }
        }
      } catch {
        return nil
      }
    }

    private var message: Message {
      let host = head.fields.indices.filter { head.fields.entry(at: $0).name == .host }
      for index in host { head.fields.remove(at: index) }
      return Message(
        method: head.method, target: head.target.bytes, authority: head.authority.bytes,
        fields: ConnectionTranscript.texts(of: head.fields), body: body,
        trailers: ConnectionTranscript.texts(of: trailers))
    }
  }

  package init(_ bytes: [UInt8]) {
    var input = ByteBuffer(bytes)
    let first = Reader()
    while fault == nil, var expected = first.next(&input) {
      if expected.authority.isEmpty { expected.authority = Array("upstream".utf8) }
      var wire = ByteBuffer()
      HeadWriter.request(
        method: expected.method, target: expected.target.span, authority: expected.authority.span,
        fields: first.head.fields, framing: first.framing, closing: false, into: &wire)
      if first.framing == .chunked {
        ChunkedWriter.chunk(expected.body.span, into: &wire)
        ChunkedWriter.end(trailers: first.trailers, into: &wire)
      } else {
        wire.append(expected.body)
      }
      let second = Reader()
      let sent = String(repairing: wire.span)
      let message = second.next(&wire)
      if message != expected || wire.count > 0 || second.parser.hasBegun {
        fault = "\(sent.debugDescription) is not read as \(expected)"
      }
      requests += 1
    }
  }
}
