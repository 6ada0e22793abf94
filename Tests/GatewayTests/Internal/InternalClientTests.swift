import Bytes
@testable import Configuration
import Diagnostics
import Dispatch
import EventLoopsTestSupport
import Synchronization
import Testing
import TransportSecurity

@testable import Gateway

/// Requests of the gateway's own, against a server that the test plays.
@Suite struct InternalClientTests {
  /// What came of one request, for the test's thread.
  final class Outcome: Sendable {
    private let text = Mutex<String?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ result: Result<InternalReply, InternalFailure>) {
      let value =
        switch result {
        case .success(let reply): "\(reply.status) \(String(decoding: reply.body.bytes, as: UTF8.self))"
        case .failure(let failure): "\(failure.kind)"
        }
      text.withLock { $0 = value }
      done.signal()
    }

    func wait() throws -> String? {
      try #require(done.wait(timeout: .now() + .seconds(30)) == .success)
      return text.withLock { $0 }
    }
  }

  static func gateway() throws -> TestGateway {
    try TestGateway(Depot.configuration(rest: "http://127.0.0.1:1", rpc: nil))
  }

  static func origin(
    _ url: String, ca: String? = nil, serverName: String? = nil
  ) throws -> InternalOrigin {
    let position = SourcePosition(file: "test", line: 1, column: 1)
    let (endpoint, target) = try ResourceURL.parse(url, at: position)
    var resource = RemoteResource(endpoint: endpoint, target: target, position: position)
    if let ca {
      var tls = UpstreamTLSConfiguration(position: position)
      tls.ca = FileReference(path: ca, position: position)
      tls.serverName = serverName
      resource.tls = tls
    }
    let (origin, faults) = InternalOrigin.make(resource, for: .keySet, CredentialFiles())
    #expect(faults == [])
    return try #require(origin)
  }

  func ask(
    _ gateway: TestGateway, _ origin: InternalOrigin, within time: Duration = .seconds(20), limit: Int = 1000
  ) throws -> Outcome {
    let outcome = Outcome()
    try gateway.onLoop { worker in
      _ = worker.internalClient.send(origin.request(), to: origin, within: time, limit: limit) { outcome.set($0) }
    }
    return outcome
  }

  @Test func anAnswerComesWholeAndTheConnectionIsKept() throws {
    let server = try ScriptedUpstream()
    let gateway = try Self.gateway()
    let origin = try Self.origin("\(server.endpoint)/keys?x=1")
    let first = try ask(gateway, origin)
    let connection = try server.accept()
    let request = try connection.receiveMessage()
    #expect(request.startLine == "GET /keys?x=1 HTTP/1.1")
    connection.answer(json: #"{"keys":[]}"#)
    #expect(try first.wait() == #"200 {"keys":[]}"#)
    let second = try ask(gateway, origin)
    _ = try connection.receiveMessage()
    connection.answer(503, json: "{}")
    #expect(try second.wait() == "503 {}")
    #expect(gateway.metric("turnout_internal_requests_total", "purpose=\"key_set\"", "outcome=\"ok\"") == 1)
    #expect(gateway.metric("turnout_internal_requests_total", "purpose=\"key_set\"", "outcome=\"5xx\"") == 1)
  }

  @Test(arguments: [true, false]) func noMoreThanTheLimitIsTaken(isAnnounced: Bool) throws {
    let server = try ScriptedUpstream()
    let gateway = try Self.gateway()
    let outcome = try ask(gateway, try Self.origin(server.endpoint), limit: 10)
    let connection = try server.accept()
    #expect(try connection.receiveMessage().startLine == "GET / HTTP/1.1")
    connection.send(
      isAnnounced
        ? "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"
        : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n5\r\n01234\r\n")
    #expect(try outcome.wait() == "tooLarge")
  }

  @Test func itWaitsNoLongerThanItMay() throws {
    let server = try ScriptedUpstream()
    let gateway = try Self.gateway()
    let outcome = try ask(gateway, try Self.origin(server.endpoint), within: .milliseconds(50))
    let connection = try server.accept()
    _ = try connection.receiveMessage()
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01")
    #expect(try outcome.wait() == "timeout")
  }

  @Test func whoCannotBeReachedIsAFailure() throws {
    let gateway = try Self.gateway()
    let port = try RawListenerPort().port
    #expect(try ask(gateway, try Self.origin("http://127.0.0.1:\(port)/x")).wait() == "exchange")
  }

  @Test func theEndOfTheGatewayEndsIt() throws {
    let server = try ScriptedUpstream()
    let gateway = try Self.gateway()
    let outcome = try ask(gateway, try Self.origin(server.endpoint))
    let connection = try server.accept()
    _ = try connection.receiveMessage()
    gateway.end()
    #expect(try outcome.wait() == "closing")
  }

  @Test func originsThatNobodyAsksAreLetGoAfterReloads() throws {
    let server = try ScriptedUpstream()
    let gateway = try Self.gateway()
    let origin = try Self.origin(server.endpoint)
    let outcome = try ask(gateway, origin)
    let connection = try server.accept()
    _ = try connection.receiveMessage()
    connection.answer(json: "{}")
    #expect(try outcome.wait() == "200 {}")
    let yaml = Depot.configuration(rest: "http://127.0.0.1:1", rpc: nil)
    _ = try gateway.reload(yaml)
    _ = try gateway.reload(yaml)
    #expect(connection.waitForEnd() == .closed)
  }

  @Test func urlsAreRead() throws {
    let position = SourcePosition(file: "test", line: 1, column: 1)
    let (endpoint, target) = try ResourceURL.parse("https://idp.example/a/b?c=d", at: position)
    #expect((endpoint.authority, endpoint.port, endpoint.isSecure, target) == ("idp.example", 443, true, "/a/b?c=d"))
    #expect(try ResourceURL.parse("http://[::1]:8080", at: position).target == "/")
    #expect(try ResourceURL.parse("http://h?x=1", at: position).target == "/?x=1")
    for wrong in [
      "idp.example/x", "ftp://x/y", "http:///x", "http://h/a b", "http://h/#f", "http://u:p@h/", "https://h:0/",
    ] {
      #expect(throws: (any Error).self, "\(wrong)") { try ResourceURL.parse(wrong, at: position) }
    }
  }
}
