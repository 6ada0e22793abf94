import Synchronization
import Testing

@testable import EventLoops

@Suite struct ResolverTests {
  private typealias Answer = Result<Resolver.Resolution, ResolverError>

  /// Runs a loop with a resolver that asks the scripted server, until `count` answers came.
  private func ask(
    _ script: @escaping @Sendable (ScriptedNameServer.Question) -> ScriptedNameServer.Answer,
    timeout: Duration = .seconds(5), tries: Int = 2, count: Int = 1,
    _ body: (Resolver, @escaping (Answer) -> Void) -> Void
  ) throws -> (answers: [Answer], questions: [ScriptedNameServer.Question]) {
    let server = try ScriptedNameServer(script)
    var answers: [Answer] = []
    try withLoop { loop in
      let resolver = Resolver(loop: loop, servers: server.server, timeout: timeout, tries: tries)
      body(resolver) { answer in
        answers.append(answer)
        if answers.count == count { loop.stop() }
      }
      loop.run()
    }
    server.stop()
    return (answers, server.questions)
  }

  private func hosts(_ answer: Answer?) throws -> Set<String> {
    Set(try #require(answer).get().addresses.map(\.text))
  }

  @Test(arguments: ["192.0.2.7", "2001:db8::7"]) func aLiteralIsAnsweredAtOnce(literal: String) throws {
    try withLoop { loop in
      var answer: Answer?
      loop.resolver.resolve(host: literal, port: 81) { answer = $0 }
      let resolution = try #require(answer).get()
      #expect(resolution.addresses == [SocketAddress(host: literal, port: 81)])
      #expect(resolution.timeToLive == Resolver.literalTimeToLive)
      loop.stop()
    }
  }

  @Test(arguments: ["localhost", "LocalHost"]) func theHostsFileKnowsLocalhost(name: String) throws {
    let (answers, questions) = try ask({ _ in .code(3) }) { resolver, done in
      resolver.resolve(host: name, port: 82, done)
    }
    let resolution = try #require(answers.first).get()
    #expect(!resolution.addresses.isEmpty)
    #expect(resolution.addresses.allSatisfy { $0.isLoopback && $0.port == 82 })
    #expect(questions.isEmpty)
  }

  @Test func bothFamiliesAreFoundAndTheShortestLifeCounts() throws {
    let (answers, questions) = try ask({ question in
      question.type == 1
        ? .records([.a("192.0.2.1", ttl: 60), .a("192.0.2.2", ttl: 50)]) : .records([.aaaa("2001:db8::1", ttl: 7)])
    }) { resolver, done in resolver.resolve(host: "both.example", port: 83, done) }
    #expect(try hosts(answers.first) == ["192.0.2.1:83", "192.0.2.2:83", "[2001:db8::1]:83"])
    #expect(try #require(answers.first).get().timeToLive == .seconds(7))
    #expect(Set(questions) == [.init(name: "both.example", type: 1), .init(name: "both.example", type: 28)])
  }

  @Test func anAliasHasALifeToo() throws {
    let (answers, _) = try ask({ question in
      question.type == 1
        ? .records([.cname("real.example", ttl: 3), .a("192.0.2.3", ttl: 60)])
        : .records([.cname("real.example", ttl: 3)])
    }) { resolver, done in resolver.resolve(host: "alias.example", port: 84, done) }
    #expect(try hosts(answers.first) == ["192.0.2.3:84"])
    #expect(try #require(answers.first).get().timeToLive == .seconds(3))
  }

  @Test func noLifeIsShorterThanASecond() throws {
    let (answers, _) = try ask({ question in
      question.type == 1 ? .records([.a("192.0.2.4", ttl: 0)]) : .records([])
    }) { resolver, done in resolver.resolve(host: "short.example", port: 85, done) }
    #expect(try #require(answers.first).get().timeToLive == .seconds(1))
  }

  @Test func anUnknownNameIsNotFound() throws {
    let (answers, _) = try ask({ _ in .code(3) }) { resolver, done in
      resolver.resolve(host: "unknown.example", port: 86, done)
    }
    #expect(kinds(answers) == [.notFound])
  }

  @Test func aNameWithoutAddressesIsNotFound() throws {
    let (answers, _) = try ask({ _ in .records([]) }) { resolver, done in
      resolver.resolve(host: "empty.example", port: 86, done)
    }
    #expect(kinds(answers) == [.notFound])
  }

  @Test(arguments: ["a..b", String(repeating: "a", count: 64) + ".example", "", "a\0b.example"])
  func whatIsNoNameIsRefused(name: String) throws {
    let (answers, _) = try ask({ _ in .code(3) }) { resolver, done in resolver.resolve(host: name, port: 86, done) }
    let kind = try #require(kinds(answers).first)
    #expect(kind == .badName || kind == .notFound)
  }

  @Test(arguments: [2, 5]) func aServerThatFailsOrRefusesIsOfNoUse(code: UInt8) throws {
    let (answers, _) = try ask({ _ in .code(code) }) { resolver, done in
      resolver.resolve(host: "broken.example", port: 87, done)
    }
    #expect(kinds(answers) == [.unreachable])
  }

  @Test func aServerThatKeepsSilentIsAskedAgainAndTimesOut() throws {
    let (answers, questions) = try ask({ _ in .silence }, timeout: .milliseconds(20), tries: 2) { resolver, done in
      resolver.resolve(host: "silent.example", port: 87, done)
    }
    #expect(kinds(answers) == [.timedOut])
    #expect(questions.count(where: { $0.type == 1 && $0.name == "silent.example" }) >= 2)
  }

  @Test func junkInPlaceOfTheFirstAnswerIsIgnored() throws {
    let asked = Mutex<Set<UInt16>>([])
    let (answers, questions) = try ask(
      { question in
        if asked.withLock({ $0.insert(question.type).inserted }) { return .junk }
        return question.type == 1 ? .records([.a("192.0.2.5", ttl: 9)]) : .records([])
      }, timeout: .milliseconds(20), tries: 4
    ) { resolver, done in resolver.resolve(host: "junk.example", port: 88, done) }
    #expect(try hosts(answers.first) == ["192.0.2.5:88"])
    #expect(questions.count >= 4)
  }

  @Test func thoseWhoAskForTheSameNameShareOneQuery() throws {
    let (answers, questions) = try ask(
      { $0.type == 1 ? .records([.a("192.0.2.6", ttl: 60)]) : .records([]) }, count: 3
    ) { resolver, done in
      resolver.resolve(host: "shared.example", port: 1, done)
      resolver.resolve(host: "SHARED.example", port: 2, done)
      resolver.resolve(host: "shared.example", port: 3, done)
    }
    #expect(try answers.map { try hosts($0) } == [["192.0.2.6:1"], ["192.0.2.6:2"], ["192.0.2.6:3"]])
    #expect(questions.count == 2)
  }

  @Test func answersAreNotKept() throws {
    let (answers, questions) = try ask(
      { $0.type == 1 ? .records([.a("192.0.2.8", ttl: 60)]) : .records([]) }, count: 2
    ) { resolver, done in
      // The next question comes from within the answer to the first.
      resolver.resolve(host: "again.example", port: 1) { [unowned resolver] answer in
        done(answer)
        resolver.resolve(host: "again.example", port: 2, done)
      }
    }
    #expect(try answers.map { try hosts($0) } == [["192.0.2.8:1"], ["192.0.2.8:2"]])
    #expect(questions.count == 4)
  }

  @Test func whoWaitsAtTheEndIsTold() throws {
    let server = try ScriptedNameServer { _ in .silence }
    var answers: [Answer] = []
    let loop = try EventLoop(name: "ending", mailbox: Mailbox())
    do {
      let resolver = Resolver(loop: loop, servers: server.server)
      resolver.resolve(host: "pending.example", port: 1) { answers.append($0) }
      resolver.resolve(host: "pending.example", port: 2) { answers.append($0) }
      #expect(answers.isEmpty)
      #expect(loop.registrations > 0)
    }
    #expect(kinds(answers) == [.cancelled, .cancelled])
    #expect(loop.registrations == 0)
    server.stop()
  }

  /// Nobody would see an answer: the question ends at once and says why, instead of with the time of all tries.
  @Test func whoAsksOverASocketThatCannotBeWatchedIsToldSo() throws {
    let server = try ScriptedNameServer { _ in .records([.a("192.0.2.9", ttl: 60)]) }
    let loop = try EventLoop(name: "unwatched", mailbox: Mailbox())
    let resolver = Resolver(loop: loop, servers: server.server, timeout: .seconds(60))
    try withBrokenEpoll(loop) {
      var answers: [Answer] = []
      resolver.resolve(host: "unwatched.example", port: 1) { answers.append($0) }
      #expect(kinds(answers) == [.outOfResources])
      guard case .failure(let error) = answers.first else { return }
      #expect(error.description.hasPrefix("unwatched.example: epoll_ctl: "), "\(error)")
      var services: [Result<Resolver.Services, ResolverError>] = []
      resolver.services("_http._tcp.example") { services.append($0) }
      guard case .failure(let error)? = services.first else {
        Issue.record("the question for a service goes on")
        return
      }
      #expect(error.kind == .outOfResources)
    }
    // What failed then is no fault of what is asked now.
    var answers: [Answer] = []
    let mailbox = loop.mailbox
    resolver.resolve(host: "watched.example", port: 2) { answer in
      answers.append(answer)
      mailbox.post { $0.stop() }
    }
    loop.run()
    #expect(try hosts(answers.first) == ["192.0.2.9:2"])
    server.stop()
  }

  private func kinds(_ answers: [Answer]) -> [ResolverError.Kind?] {
    answers.map { answer in
      if case .failure(let error) = answer { error.kind } else { nil }
    }
  }
}
