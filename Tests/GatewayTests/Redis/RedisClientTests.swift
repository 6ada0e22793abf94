import Configuration
import Diagnostics
import EventLoops
import EventLoopsTestSupport
import Metrics
import Redis
import Testing

@testable import Gateway

@Suite struct RedisClientTests {
  /// A loop with a client and a scripted server; it ends when the body calls `done`, or after 20 seconds.
  private func play(
    timeout: Duration = .milliseconds(500), channels: [String] = [],
    _ script: @escaping (_ command: [String], _ connection: Int) -> ScriptedRedis.Answer,
    _ body: (RedisClient, ScriptedRedis, @escaping () -> Void) -> Void
  ) throws -> (server: ScriptedRedis, metrics: String, log: String) {
    let folder = try TemporaryFolder()
    let log = try LogSink(.file(path: folder.file("log")))
    let loop = try EventLoop(name: "test", mailbox: Mailbox())
    let server = try ScriptedRedis(loop: loop, script)
    let registry = MetricsRegistry(shards: 1)
    var configuration = RedisConfiguration(
      name: "shared", position: SourcePosition(file: "", line: 1, column: 1),
      address: .host("127.0.0.1", port: server.listener.address.port))
    configuration.timeout = timeout
    let client = RedisClient(
      endpoint: RedisEndpoint(configuration, connectTimeout: .seconds(5), security: nil), channels: channels,
      loop: loop, counters: RedisCounters(RedisMetrics(registry), "shared", shard: 0),
      presence: RedisPresence(log: GatewayLog(sink: log, format: .text)))
    var isDone = false
    let patience = Timer(loop: loop) { loop.stop() }
    patience.schedule(after: .seconds(20))
    body(client, server) {
      isDone = true
      loop.stop()
    }
    client.start()
    loop.run()
    client.close()
    // What tests put there holds the client.
    client.onReady = nil
    client.onLost = nil
    client.onMessage = nil
    #expect(isDone, "it did not come about")
    log.flush()
    return (server, String(decoding: registry.expose(), as: UTF8.self), try folder.read("log"))
  }

  @Test func commandsAreAnsweredInTheirOrder() throws {
    let (server, metrics, log) = try play({ command, _ in .reply(":\(command[1])\r\n") }) { client, _, done in
      client.onReady = {
        for number in 1...100 {
          client.send(RedisCommand("ECHO", "\(number)")) { result in
            #expect(result == .success(.integer(Int64(number))))
            if number == 100 { done() }
          }
        }
      }
    }
    #expect(server.commands.count == 101)
    #expect(metrics.contains(#"turnout_redis_commands_total{redis="shared",outcome="ok"} 100"#))
    #expect(log.isEmpty)
  }

  @Test func withoutAConnectionACommandFailsAtOnce() throws {
    _ = try play({ _, _ in .silence }) { client, _, done in
      var result: Result<RedisValue, RedisFailure>?
      client.send(RedisCommand("GET", "a")) { result = $0 }
      #expect(result == .failure(.away))
      client.onReady = done
    }
  }

  @Test func moreThanTheBoundAreRefused() throws {
    _ = try play({ _, _ in .silence }) { client, _, done in
      client.onReady = {
        var refused = 0
        for _ in 0..<RedisClient.maximumPending + 10 {
          client.send(RedisCommand("GET", "a")) { if $0 == .failure(.busy) { refused += 1 } }
        }
        #expect(refused == 10)
        done()
      }
    }
  }

  @Test func anAnswerThatComesTooLateIsThrownAwayAndTheNextOnesFit() throws {
    var held: [String] = []
    let (_, metrics, _) = try play(
      timeout: .seconds(10),
      { command, _ in
        held.append(":\(command[1])\r\n")
        return .silence
      }
    ) { client, server, done in
      client.onReady = {
        client.send(RedisCommand("ECHO", "1"), timeout: .milliseconds(20)) { result in
          #expect(result == .failure(.timedOut))
          client.send(RedisCommand("ECHO", "2")) { result in
            #expect(result == .success(.integer(2)))
            done()
          }
          server.push(held.joined() + ":2\r\n")
        }
      }
    }
    #expect(metrics.contains(#"turnout_redis_commands_total{redis="shared",outcome="timeout"} 1"#))
  }

  @Test func aServerThatOwesAnAnswerForTooLongIsLeftAndFoundAgain() throws {
    let (server, _, log) = try play(
      timeout: .milliseconds(50),
      { _, connection in
        connection == 1 ? .silence : .reply("+OK\r\n")
      }
    ) { client, _, done in
      var failures: [RedisFailure] = []
      client.onReady = {
        client.send(RedisCommand("GET", "a")) { result in
          switch result {
          case .failure(let failure): failures.append(failure)
          case .success:
            #expect(failures == [.timedOut])
            done()
          }
        }
      }
    }
    #expect(server.connections == 2)
    #expect(log.split(separator: "\n").count == 2 && log.contains("there again"))
  }

  @Test func aLostConnectionFailsWhatWaitsAndIsMadeAgain() throws {
    let (server, _, _) = try play({ _, connection in connection < 4 ? .hangUp : .reply("+OK\r\n") }) {
      client, _, done in
      var failures: [RedisFailure] = []
      client.onReady = {
        client.send(RedisCommand("GET", "a")) { result in
          switch result {
          case .failure(let failure): failures.append(failure)
          case .success:
            #expect(failures == [.lost, .lost, .lost])
            done()
          }
        }
      }
    }
    #expect(server.connections == 4)
  }

  @Test func aScriptIsSentWholeOnlyWhenItIsNotThere() throws {
    var isThere = false
    let (server, metrics, _) = try play({ command, _ in
      if command[0] == "EVAL" { isThere = true }
      return .reply(isThere ? ":1\r\n" : "-NOSCRIPT No matching script.\r\n")
    }) { client, _, done in
      let script = RedisScript("return 1")
      client.onReady = {
        client.run(script, keys: ["k"], arguments: ["a", "b"]) { result in
          #expect(result == .success(.integer(1)))
          client.run(script, keys: ["k"], arguments: ["a", "b"]) { result in
            #expect(result == .success(.integer(1)))
            done()
          }
        }
      }
    }
    let digest = RedisScript("return 1").digest
    #expect(
      server.commands.dropFirst() == [
        ["EVALSHA", digest, "1", "k", "a", "b"], ["EVAL", "return 1", "1", "k", "a", "b"],
        ["EVALSHA", digest, "1", "k", "a", "b"],
      ])
    #expect(metrics.contains(#"turnout_redis_commands_total{redis="shared",outcome="refused"} 0"#))
  }

  @Test func whatIsPublishedIsHeard() throws {
    _ = try play(
      channels: ["x"],
      { command, _ in
        command[0] == "SUBSCRIBE" ? .reply("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n") : .silence
      }
    ) { client, server, done in
      client.onReady = { server.push("*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n") }
      client.onMessage = { channel, payload in
        #expect(channel == "x" && payload == Array("hi".utf8))
        done()
      }
    }
  }
}
