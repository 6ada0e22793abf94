import Testing

@testable import Gateway
@testable import RPC

@Suite struct InterceptorTests {
  private func chain(_ journal: Journal, _ verdicts: [@Sendable (Call) -> InterceptorVerdict]) -> [any Interceptor] {
    zip(["a", "b", "c"], verdicts).map { JournalInterceptor(name: $0, journal: journal, verdict: $1) }
  }

  private static let proceed: @Sendable (Call) -> InterceptorVerdict = { _ in .proceed }
  private static let wait: @Sendable (Call) -> InterceptorVerdict = { _ in .wait }
  private static let refuse: @Sendable (Call) -> InterceptorVerdict = { _ in
    .refuse(RPCError(.unauthenticated, "who is there?"))
  }

  private static func resume(_ gateway: TestGateway, _ verdict: @escaping @Sendable () -> InterceptorVerdict) throws {
    try gateway.waitUntil { worker in worker.connections.contains { $0?.calls.first?.state == .waiting } }
    _ = try gateway.onLoop { worker in
      for connection in worker.connections { connection?.calls.first?.resume(verdict()) }
      return true
    }
  }

  @Test func areEnteredInOrderAndLeftInReverse() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil),
      interceptors: chain(journal, [Self.proceed, Self.proceed, Self.proceed]))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    let backend = try rest.accept()
    #expect(try backend.receiveMessage().startLine == "GET /v1/crates/7 HTTP/1.1")
    backend.answer(json: #"{"id":"7"}"#)
    let answer = try client.receiveMessage()
    #expect(answer.text == #"{"id":"7"}"#)
    #expect(answer.fields.filter { $0.name == "x-left" }.map(\.value) == ["c", "b", "a"])
    #expect(
      journal.all == [
        "a call", "b call", "c call", "c reply 200", "b reply 200", "a reply 200", "c end ok", "b end ok", "a end ok",
      ])
  }

  /// What a refused call is told, by its protocol.
  @Test(
    arguments: [
      ("GET", "/v1/crates/7", nil, #"{"code":16,"message":"who is there?","details":[]}"#),
      ("POST", "/depot.v1.CrateService/Create", "{}", #"{"code":"unauthenticated","message":"who is there?"}"#),
    ] as [(String, String, String?, String)])
  func aRefusalIsToldInTheCallersProtocol(method: String, target: String, body: String?, answer: String) throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil),
      interceptors: chain(journal, [Self.proceed, Self.refuse, Self.proceed]))
    let client = try gateway.client()
    let reply = try client.ask(method, target, body: body)
    #expect(reply.status == 401)
    #expect(reply.text == answer)
    #expect(reply.fields.filter { $0.name == "x-left" }.map(\.value) == ["b", "a"])
    #expect(
      journal.all == [
        "a call", "b call", "b reply 401", "a reply 401", "b end unauthenticated", "a end unauthenticated",
      ])
    #expect(!rest.isAsked())
  }

  private static let refused: [(String, String, String?, Int)] = [
    ("GET", "/nowhere", nil, 404), ("GET", "/v1/crates/7?x=1", nil, 400), ("POST", "/v1/crates", "{", 400),
  ]

  @Test(arguments: refused)
  func localRepliesAreLeftToo(method: String, target: String, body: String?, status: Int) throws {
    let rpc = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]),
      interceptors: chain(journal, [Self.proceed, Self.proceed]))
    let answer = try gateway.client().ask(method, target, body: body)
    #expect(answer.status == status)
    #expect(answer.fields.filter { $0.name == "x-left" }.map(\.value) == ["b", "a"])
    #expect(journal.all.prefix(4) == ["a call", "b call", "b reply \(status)", "a reply \(status)"])
    #expect(journal.all.count == 6)
    #expect(!rpc.isAsked())
  }

  @Test func aCallWaitsAndGoesOn() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil), interceptors: chain(journal, [Self.wait, Self.proceed]))
    let client = try gateway.client()
    client.request("POST", "/v1/crates", ["expect: 100-continue", "content-type: text/plain", "content-length: 4"])
    try gateway.waitUntil { worker in worker.connections.contains { $0?.calls.first?.state == .waiting } }
    #expect(journal.all == ["a call"])
    #expect(!rest.isAsked())
    try Self.resume(gateway) { .proceed }
    // Not before the verdict.
    #expect(try client.receiveHead().startLine == "HTTP/1.1 100 Continue")
    client.send("abcd")
    let backend = try rest.accept()
    #expect(try backend.receiveMessage().text == "abcd")
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().text == "{}")
    #expect(journal.all.filter { $0.hasSuffix("call") } == ["a call", "b call"])
    #expect(journal.count(of: "a end ok") == 1)
  }

  /// The end of an empty body is no event of reading.
  @Test func aCallWithAnEmptyBodyWaitsAndGoesOn() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]), interceptors: chain(Journal(), [Self.wait]))
    let client = try gateway.client()
    client.request("POST", "/v1/crates/7:seal", ["content-length: 0"])
    try Self.resume(gateway) { .proceed }
    let backend = try rpc.accept()
    let asked = try backend.receiveMessage()
    #expect(asked.startLine == "POST /depot.v1.CrateService/Seal HTTP/1.1")
    #expect(asked.text == #"{"id":"7"}"#)
    backend.answer(json: #"{"id":"7","weight":3}"#)
    #expect(try client.receiveMessage().text == #"{"id":"7","weight":3}"#)
  }

  @Test func aWaitingCallIsRefusedLater() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil), interceptors: chain(journal, [Self.wait, Self.proceed]))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    try Self.resume(gateway) { .refuse(RPCError(.permissionDenied, "no")) }
    #expect(try client.receiveMessage().status == 403)
    #expect(journal.all == ["a call", "a reply 403", "a end permission_denied"])
  }

  @Test func aCallerWhoLeavesEndsTheWait() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil), interceptors: chain(journal, [Self.wait]))
    var client: RawClient? = try gateway.client()
    client?.request("GET", "/v1/crates/7")
    try gateway.waitUntil { worker in worker.connections.contains { $0?.calls.first?.state == .waiting } }
    client = nil
    try gateway.waitUntil { worker in worker.connections.allSatisfy { $0 == nil } }
    #expect(journal.all == ["a call", "a end canceled"])
    #expect(!rest.isAsked())
  }

  @Test func theDeadlineGoesOnWhileACallWaits() throws {
    let rpc = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]), interceptors: chain(journal, [Self.wait]))
    let answer = try gateway.client().ask(
      "POST", "/depot.v1.CrateService/Create", ["connect-timeout-ms: 50"], body: "{}")
    #expect(answer.status == 504)
    #expect(answer.text.contains(#""code":"deadline_exceeded""#))
    #expect(journal.all == ["a call", "a reply 504", "a end deadline_exceeded"])
  }

  @Test func aChainIsLeftOnce() {
    var chain = InterceptorChain(["a", "b", "c"].map { JournalInterceptor(name: $0, journal: Journal()) })
    #expect(chain.leaving.isEmpty)
    #expect((chain.next() as? JournalInterceptor)?.name == "a")
    #expect((chain.next() as? JournalInterceptor)?.name == "b")
    #expect(chain.entered == 2)
    let entered = chain
    #expect(chain.end().map { (entered[$0] as? JournalInterceptor)?.name } == ["b", "a"])
    #expect(chain.end().isEmpty)
  }
}
