import Bytes
import RandomnessTestSupport
import Testing

@testable import Redis

@Suite struct SessionTests {
  private func sent(_ session: RedisSession) -> String {
    defer { session.output.removeAll() }
    return String(decoding: session.output.bytes, as: UTF8.self)
  }

  private func events(_ session: RedisSession, _ text: String) throws -> [RedisSession.Event] {
    try session.receive(Array(text.utf8).span)
    var events: [RedisSession.Event] = []
    while let event = try session.next() { events.append(event) }
    return events
  }

  @Test func argumentsMayBeAnyBytes() {
    var output = ByteBuffer()
    var command = RedisCommand("SET", "", "ü")
    command.append([0, 13, 10] as [UInt8])
    command.append(-7)
    let isWritten = command.write(into: &output)
    #expect(isWritten)
    #expect(output.bytes == Array("*5\r\n$3\r\nSET\r\n$0\r\n\r\n$2\r\nü\r\n$3\r\n\0\r\n\r\n$2\r\n-7\r\n".utf8))
  }

  @Test func theLoginGoesFirstAndNothingWithIt() throws {
    let session = RedisSession(login: .init(username: "u", password: "p", database: 3))
    #expect(!session.send(RedisCommand("GET", "a")))
    #expect(
      sent(session)
        == "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n")
    #expect(try events(session, "+OK\r\n") == [])
    #expect(!session.send(RedisCommand("GET", "a")))
    #expect(try events(session, "+OK\r\n") == [.ready])
    #expect(session.send(RedisCommand("GET", "a")))
    #expect(sent(session) == "*2\r\n$3\r\nGET\r\n$1\r\na\r\n")
  }

  @Test(arguments: [
    ("-WRONGPASS invalid username-password pair\r\n", RedisFault.Kind.refused),
    ("-NOAUTH Authentication required.\r\n", .refused), ("-ERR DB index is out of range\r\n", .refused),
    ("-ERR unknown command `AUTH`, with args beginning with: `secret`, \r\n", .refused),
    ("-ERR what is secret\r\n", .refused), (":1\r\n", .protocol), ("SSH-2.0-OpenSSH\r\n", .protocol),
  ])
  func aLoginThatFailsSaysWhy(answer: String, kind: RedisFault.Kind) throws {
    let session = RedisSession(login: .init(password: "secret"))
    let fault = #expect(throws: RedisFault.self) { try events(session, answer) }
    #expect(fault?.kind == kind)
    #expect(fault?.reason.contains("secret") == false)
  }

  @Test func answersComeInTheOrderOfTheCommands() throws {
    let session = RedisSession(login: .init())
    #expect(try events(session, "+OK\r\n") == [.ready])
    for key in ["a", "b", "c"] { #expect(session.send(RedisCommand("GET", key))) }
    #expect(session.unanswered == 3)
    #expect(
      try events(session, ":1\r\n-ERR no\r\n:3\r\n") == [
        .reply(.integer(1)), .reply(.error("ERR no")), .reply(.integer(3)),
      ])
    #expect(throws: RedisFault.self) { try events(session, ":4\r\n") }
  }

  @Test func aListenerHearsItsChannels() throws {
    let session = RedisSession(login: .init(), channels: ["x", "y"])
    #expect(sent(session).hasSuffix("*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\nx\r\n$1\r\ny\r\n"))
    let confirmed = "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\ny\r\n:2\r\n"
    #expect(try events(session, "+OK\r\n" + confirmed) == [.ready])
    #expect(!session.send(RedisCommand("GET", "a")))
    session.ping()
    let heard = try events(
      session, "*3\r\n$7\r\nmessage\r\n$1\r\ny\r\n$2\r\nhi\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n")
    #expect(heard == [.message(channel: "y", payload: Array("hi".utf8)), .pong])
    #expect(throws: RedisFault.self) { try events(session, "-NOPERM no access to channel\r\n") }
  }

  @Test func theDigestIsThatOfTheServer() {
    // SCRIPT LOAD "return 1" answers this.
    #expect(RedisScript("return 1").digest == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db")
  }

  @Test func waitsGrowToABoundAndDiffer() {
    var generator = SeededGenerator(seed: 7)
    var delay = ReconnectDelay(first: .milliseconds(100), most: .seconds(2))
    let waits = (0..<50).map { _ in delay.next(using: &generator) }
    for (index, wait) in waits.enumerated() {
      let bound = min(Duration.seconds(2), .milliseconds(100) * (1 << min(index, 10)))
      #expect(wait >= bound / 2 && wait <= bound)
    }
    #expect(Set(waits.suffix(20)).count > 10)
    delay.reset()
    #expect(delay.next(using: &generator) <= .milliseconds(100))
  }
}
