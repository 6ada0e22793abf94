import RandomnessTestSupport
import Testing

@testable import EventLoops

@Suite struct ServiceRecordTests {
  private typealias Answer = Result<Resolver.Services, ResolverError>

  private func ask(
    _ name: String, _ answer: ScriptedNameServer.Answer, timeout: Duration = .seconds(5)
  ) throws -> (answer: Answer, questions: [ScriptedNameServer.Question]) {
    let server = try ScriptedNameServer { _ in answer }
    var result: Answer?
    try withLoop { loop in
      let resolver = Resolver(loop: loop, servers: server.server, timeout: timeout, tries: 2)
      resolver.services(name) { answer in
        result = answer
        loop.stop()
      }
      loop.run()
    }
    server.stop()
    return (try #require(result), server.questions)
  }

  @Test func theServersOfAServiceComeSortedWithTheShortestLife() throws {
    let (answer, questions) = try ask(
      "_http._tcp.shop.example",
      .records([
        .srv("b.shop.example", port: 8082, priority: 10, weight: 1, ttl: 60),
        .srv("a.shop.example", port: 8081, priority: 10, weight: 3, ttl: 30),
        .srv("spare.shop.example", port: 9000, priority: 5, weight: 0, ttl: 90),
      ]))
    let services = try answer.get()
    #expect(
      services.records == [
        ServiceRecord(host: "spare.shop.example", port: 9000, priority: 5, weight: 0),
        ServiceRecord(host: "a.shop.example", port: 8081, priority: 10, weight: 3),
        ServiceRecord(host: "b.shop.example", port: 8082, priority: 10, weight: 1),
      ])
    #expect(services.timeToLive == .seconds(30))
    #expect(questions == [.init(name: "_http._tcp.shop.example", type: 33)])
  }

  @Test func noSuchServiceIsAnError() throws {
    #expect(throws: ResolverError.self) { try ask("_x._tcp.shop.example", .code(3)).answer.get() }
    #expect(throws: ResolverError.self) { try ask("_x._tcp.shop.example", .records([])).answer.get() }
    #expect(throws: ResolverError.self) { try ask("_x\0._tcp", .records([])).answer.get() }
  }

  @Test func aSilentServerIsAnError() throws {
    let (answer, _) = try ask("_x._tcp.shop.example", .silence, timeout: .milliseconds(100))
    guard case .failure(let error) = answer else { return #expect(Bool(false)) }
    #expect(error.kind == .timedOut)
  }

  @Test func whoAsksIsToldWhenTheResolverEnds() throws {
    var result: Answer?
    let server = try ScriptedNameServer { _ in .silence }
    try withLoop { loop in
      var resolver: Resolver? = Resolver(loop: loop, servers: server.server)
      resolver?.services("_x._tcp.shop.example") { result = $0 }
      #expect(result == nil)
      resolver = nil
      loop.stop()
    }
    server.stop()
    guard case .failure(let error)? = result else { return #expect(Bool(false)) }
    #expect(error.kind == .cancelled)
  }

  @Test(arguments: 1...5) func anythingMayStandInAnAnswer(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var bytes = (0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      // Small numbers of records, so that they are walked and not only counted.
      if bytes.count > 8 { (bytes[4], bytes[6], bytes[5], bytes[7]) = (0, 0, bytes[5] & 3, bytes[7] & 3) }
      _ = AnswerTimes.shortest(bytes)
    }
  }
}
