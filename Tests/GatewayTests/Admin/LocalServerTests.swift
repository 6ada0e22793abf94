import EventLoops
import Gateway
import Glibc
import HTTPModel
import Synchronization
import Testing

@Suite struct LocalServerTests {
  /// Answers with what it was asked, one line a fact.
  private static func echo(_ request: LocalRequest) -> LocalResponse {
    var text = "\(request.method.name) \(request.path) \(request.query) \(request.authority)\n"
    for field in request.fields { text += "\(field.name)=\(field.value)\n" }
    text += String(decoding: request.body, as: UTF8.self) + "."
    return .text(text)
  }

  private func server(
    limits: LocalServerLimits = LocalServerLimits(),
    _ handler: @escaping @Sendable (LocalRequest) -> LocalResponse = echo
  ) throws -> LocalServer {
    let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
    return try LocalServer(address: any, name: "local-test", limits: limits, handler: handler)
  }

  private func body(_ answer: String) -> String {
    guard let end = answer.firstRange(of: "\r\n\r\n") else { return "" }
    return String(answer[end.upperBound...])
  }

  @Test func answersARequest() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send("GET /a%20b?c=d HTTP/1.1\r\nHost: X.example\r\nX-Name: v\r\nConnection: close\r\n\r\n")
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.contains("content-type: text/plain; charset=utf-8\r\n"))
    #expect(answer.contains("connection: close\r\n"))
    #expect(body(answer) == "GET /a%20b c=d x.example\nhost=X.example\nx-name=v\n.")
  }

  @Test func everySplitGivesTheSameAnswer() throws {
    let server = try server()
    let request = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
    for cut in 1..<request.utf8.count {
      let client = try RawClient(server.address)
      client.send(String(request.prefix(cut)))
      client.send(String(request.dropFirst(cut)))
      #expect(body(client.receiveAll()) == "POST /p  a\nhost=a\nbody.", "cut at \(cut)")
    }
  }

  @Test func keepsTheConnectionAndAnswersAPipeline() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.receive(until: "\n.").contains("GET /1 "))
    client.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let rest = client.receiveAll()
    let second = try #require(rest.firstRange(of: "GET /2 "))
    let third = try #require(rest.firstRange(of: "GET /3 "))
    #expect(second.lowerBound < third.lowerBound)
  }

  @Test func readsChunksAndDropsTrailers() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        + "3\r\nabc\r\n2\r\nde\r\n0\r\nX-Late: 1\r\n\r\n")
    #expect(body(client.receiveAll()) == "POST /  a\nhost=a\nabcde.")
  }

  @Test func headHasNoBody() throws {
    let server = try server { _ in .text("seven..") }
    let client = try RawClient(server.address)
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let answer = client.receiveAll()
    #expect(answer.ranges(of: "content-length: 7\r\n").count == 2)
    #expect(answer.ranges(of: "seven..").count == 1)
  }

  @Test func oldClientsAreServedAndClosed() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send("GET / HTTP/1.0\r\n\r\n")
    #expect(body(client.receiveAll()) == "GET /  \n.")
  }

  @Test func continueIsSentWhenAskedFor() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n")
    #expect(client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("ok")
    #expect(body(client.receiveAll()) == "PUT /  a\nhost=a\nok.")
  }

  @Test func aClientThatEndsItsDirectionGetsItsAnswer() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
    client.finish()
    #expect(body(client.receiveAll()).contains("GET /last "))
  }

  @Test func bodiesOfExactlyTheLimitPass() throws {
    var limits = LocalServerLimits()
    limits.body = 1_000
    let server = try server(limits: limits) { .text("\($0.body.count)") }
    for (size, status) in [(1_000, "200"), (1_001, "413")] {
      for isChunked in [false, true] {
        let client = try RawClient(server.address)
        let content = String(repeating: "x", count: size)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
        let sent = isChunked ? "\(String(size, radix: 16))\r\n\(content)\r\n0\r\n\r\n" : content
        client.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(framing)\r\n\r\n\(sent)")
        #expect(client.receiveAll().hasPrefix("HTTP/1.1 \(status) "), "\(size) \(framing)")
      }
    }
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", "400"), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505"), ("nonsense\r\n\r\n", "400"),
    ("GET / HTTP/1.1\nHost: a\n\n", "400"),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\nx\r\n0\r\n\r\n", "400"),
  ])
  func badRequestsAreRefusedAndClosed(request: String, status: String) throws {
    try expectRefusal(of: request, status)
  }

  @Test func longHeadsAreRefused() throws {
    let long = String(repeating: "y", count: 20_000)
    try expectRefusal(of: "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", "431")
    try expectRefusal(of: "GET /\(long.prefix(9_000)) HTTP/1.1\r\nHost: a\r\n\r\n", "414")
  }

  private func expectRefusal(of request: String, _ status: String) throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send(request)
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
    #expect(answer.contains("connection: close\r\n"))
    #expect(try JSONValue(parsing: Array(body(answer).utf8))["error"]?.text != nil)
  }

  @Test func aRequestThatDoesNotEndGets408() throws {
    var limits = LocalServerLimits()
    limits.request = .milliseconds(50)
    let server = try server(limits: limits)
    for part in ["GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nxy"] {
      let client = try RawClient(server.address)
      client.send(part)
      #expect(client.receiveAll().hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test func idleConnectionsAreClosedWithoutAWord() throws {
    var limits = LocalServerLimits()
    limits.idle = .milliseconds(50)
    let server = try server(limits: limits)
    let client = try RawClient(server.address)
    #expect(client.receiveAll() == "")
  }

  @Test func whoSaysNothingForTheLongestTimeMakesRoom() throws {
    var limits = LocalServerLimits()
    limits.connections = 2
    limits.idle = .seconds(600)
    limits.request = .seconds(600)
    let server = try server(limits: limits)
    let silent = try RawClient(server.address)
    let half = try RawClient(server.address)
    half.send("GET / HTTP/1.1\r\nHo")
    // The silent one goes, then the one with half a request.
    for earlier in [silent, half] {
      let client = try RawClient(server.address)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(!client.receive(until: "\n.").isEmpty)
      #expect(earlier.receiveAll() == "")
    }
  }

  @Test func whileAllAreAnsweredOthersWaitForTheirTurn() throws {
    var limits = LocalServerLimits()
    limits.connections = 2
    let begun = Atomic(0)
    let server = try server(limits: limits) { request in
      begun.add(1, ordering: .relaxed)
      var response = LocalResponse.text(request.path + ".")
      response.delay = .milliseconds(100)
      return response
    }
    var clients: [RawClient] = []
    for number in 1...3 {
      let client = try RawClient(server.address)
      client.send("GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      clients.append(client)
      // Both places are taken by requests, not by connections that could make room.
      while number < 3, begun.load(ordering: .relaxed) < number { usleep(1_000) }
    }
    for client in clients { #expect(body(client.receiveAll()) == "/slow.") }
  }

  @Test func aDelayedAnswerComesAfterOthers() throws {
    let server = try server { request in
      var response = LocalResponse.text(request.path + ".")
      if request.path == "/slow" { response.delay = .milliseconds(100) }
      return response
    }
    let slow = try RawClient(server.address)
    let fast = try RawClient(server.address)
    slow.send("GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    fast.send("GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    #expect(body(fast.receiveAll()) == "/fast.")
    #expect(body(slow.receiveAll()) == "/slow.")
  }

  @Test func longAnswersArriveWhole() throws {
    let long = [UInt8](repeating: UInt8(ascii: "z"), count: 5 << 20)
    let server = try server { _ in LocalResponse(status: 200, body: long) }
    let client = try RawClient(server.address)
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    #expect(body(client.receiveAll()).utf8.count == long.count)
  }

  @Test func aTakenPortIsAnError() throws {
    let server = try server()
    #expect(throws: SystemError.self) {
      try LocalServer(address: server.address, name: "second") { _ in .text("") }
    }
  }

  @Test func stoppingFreesThePort() throws {
    let server = try server()
    let client = try RawClient(server.address)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(!client.receive(until: "\n.").isEmpty)
    server.stop()
    server.join()
    #expect(client.receiveAll() == "")
    let next = try LocalServer(address: server.address, name: "next") { _ in .text("again") }
    let later = try RawClient(next.address)
    later.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    #expect(body(later.receiveAll()) == "again")
  }

  @Test func theHandlerMayStopItsServer() throws {
    let holder = ServerHolder()
    let server = try server { _ in
      holder.server?.stop()
      return .text("bye")
    }
    holder.server = server
    let client = try RawClient(server.address)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(body(client.receiveAll()) == "bye")
    server.join()
    holder.server = nil
  }

  @Test func theAdminEndpointAnswersOverASocket() throws {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .admin(token: "t"), control: control)
    let server = try server { handler.respond(to: $0) }
    let client = try RawClient(server.address)
    client.send("GET /readyz HTTP/1.1\r\nHost: \(server.address.text)\r\n\r\n")
    #expect(client.receive(until: "ready\n").hasPrefix("HTTP/1.1 200 "))
    let change = #"{"stage":"rpc"}"#
    func put(_ host: String) -> String {
      "PUT /routes/a.S/M/stage HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer t\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(change.utf8.count)\r\n\r\n\(change)"
    }
    client.send(put("evil.example:\(server.address.port)"))
    #expect(client.receive(until: "}").hasPrefix("HTTP/1.1 403 "))
    client.send(put("LOCALHOST:\(server.address.port)"))
    #expect(client.receive(until: "}").hasPrefix("HTTP/1.1 200 "))
    #expect(control.stageCalls.map(\.procedure) == ["a.S/M"])
  }
}

/// Lets a handler reach the server that it belongs to.
private final class ServerHolder: Sendable {
  private let held = Mutex<LocalServer?>(nil)
  var server: LocalServer? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
