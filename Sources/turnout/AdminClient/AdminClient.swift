import Bytes
import HTTP1
import HTTPModel

/// A blocking HTTP/1.1 client for one request to the admin endpoint.
struct AdminClient {
  struct Answer: Sendable, Equatable {
    var status: Int
    var body: [UInt8]
  }

  /// Why there is no answer, without the place.
  struct Failure: Error, Sendable {
    var reason: String
  }

  /// Bytes of an answer's body; the JSON of one route has some thousands.
  private static let maximumBody = 64 << 20
  /// Seconds for the whole exchange.
  private static let patience = 10

  let endpoint: AdminURL
  let token: String?

  /// - Parameter body: JSON; nil: there is none.
  func send(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil) throws(Failure) -> Answer {
    let connection = try BlockingConnection.open(to: endpoint, seconds: Self.patience)
    var request = ByteBuffer()
    let fields = FieldBlock()
    if body != nil { fields.append(.contentType, "application/json" as StaticString) }
    fields.append("user-agent", "turnout/\(Program.version)")
    if let token { fields.append(.authorization, "Bearer \(token)") }
    HeadWriter.request(
      method: method, target: Array(path.utf8).span, authority: Array(endpoint.authority.utf8).span, fields: fields,
      framing: body.map { .length($0.count) } ?? .none, closing: true, into: &request)
    if let body { request.append(body) }
    try connection.send(request)
    return try receive(from: connection, to: method)
  }

  private func receive(
    from connection: borrowing BlockingConnection, to method: HTTPMethod
  ) throws(Failure) -> Answer {
    var input = ByteBuffer()
    let head = ResponseHead()
    do {
      repeat {
        var parser = ResponseHeadParser(limits: HeadLimits())
        while !(try parser.parse(&input, into: head)) {
          guard try connection.receive(into: &input) else { throw Failure(reason: "closed before it answered") }
        }
      } while head.isInformational
      var reader = BodyReader(framing: try MessageFraming.ofResponse(head, to: method), limits: HeadLimits())
      return Answer(status: head.status, body: try body(&reader, &input, connection))
    } catch let error as HTTP1Error {
      throw Failure(reason: "no HTTP answer: \(error.reason)")
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure(reason: "no HTTP answer")
    }
  }

  private func body(
    _ reader: inout BodyReader, _ input: inout ByteBuffer, _ connection: borrowing BlockingConnection
  ) throws -> [UInt8] {
    let trailers = FieldBlock()
    var collected: [UInt8] = []
    while true {
      switch try reader.next(&input, trailers: trailers) {
      case .end: return collected
      case .data(let count):
        guard collected.count + count <= Self.maximumBody else { throw Failure(reason: "the answer is too long") }
        for index in 0..<count { collected.append(input[index]) }
        input.consume(count)
      case .needsMore:
        if !(try connection.receive(into: &input)) { try reader.inputClosed() }
      }
    }
  }
}
