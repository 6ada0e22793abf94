import HTTP1
import HTTPModel
import Testing

@Suite("Message framing")
struct MessageFramingTests {
  static func response(_ status: Int, _ fields: [(String, String)] = []) -> ResponseHead {
    let head = ResponseHead()
    head.status = status
    for (name, value) in fields { head.fields.append(name, value) }
    return head
  }

  @Test("answers without a body, whatever their fields say", arguments: [100, 101, 103, 204, 304])
  func bodyless(_ status: Int) throws {
    let head = Self.response(status, [("content-length", "5"), ("transfer-encoding", "chunked")])
    #expect(try MessageFraming.ofResponse(head, to: .get) == .none)
  }

  @Test("an answer to HEAD has no body, one to a GET has")
  func head() throws {
    let head = Self.response(200, [("content-length", "5")])
    #expect(try MessageFraming.ofResponse(head, to: .head) == .none)
    #expect(try MessageFraming.ofResponse(head, to: .get) == .length(5))
    #expect(try MessageFraming.ofResponse(head, to: .connect) == .none)
  }

  @Test("without length or chunks an answer ends with the connection, a request has no body")
  func absent() throws {
    #expect(try MessageFraming.ofResponse(Self.response(200), to: .get) == .untilClose)
    #expect(try MessageFraming.ofResponse(Self.response(404), to: .connect) == .untilClose)
    let request = RequestHead()
    request.method = .post
    #expect(try MessageFraming.ofRequest(request) == .none)
  }

  @Test("the largest length")
  func largest() throws {
    let request = RequestHead()
    request.fields.append("content-length", "9223372036854775807")
    #expect(try MessageFraming.ofRequest(request) == .length(.max))
    request.fields.removeAll()
    request.fields.append("content-length", "0")
    #expect(try MessageFraming.ofRequest(request) == .length(0))
  }

  @Test("removed fields do not count")
  func removed() throws {
    let head = Self.response(200, [("content-length", "5"), ("transfer-encoding", "gzip"), ("content-length", "6")])
    head.fields.remove(.transferEncoding)
    head.fields.remove(at: 2)
    #expect(try MessageFraming.ofResponse(head, to: .get) == .length(5))
    head.fields.remove(.contentLength)
    #expect(try MessageFraming.ofResponse(head, to: .get) == .untilClose)
  }

  @Test("persistence by version and options")
  func persistence() {
    var options = ConnectionOptions()
    #expect(ConnectionPersistence.isPersistent(version: .http11, options: options))
    #expect(!ConnectionPersistence.isPersistent(version: .http10, options: options))
    options.keepAlive = true
    #expect(ConnectionPersistence.isPersistent(version: .http10, options: options))
    options.close = true
    #expect(!ConnectionPersistence.isPersistent(version: .http10, options: options))
    #expect(!ConnectionPersistence.isPersistent(version: .http11, options: options))
    #expect(ConnectionPersistence.isPersistent(version: .http2, options: options))
  }
}
