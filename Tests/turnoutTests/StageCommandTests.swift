import EventLoops
import Gateway
import HTTPModel
import Synchronization
import Testing

@testable import turnout

/// `turnout stage` against a real admin endpoint.
@Suite struct StageCommandTests {
  private final class Control: ControlPlane {
    let asked = Mutex<[String]>([])
    var isReady: Bool { true }
    func metrics() -> [UInt8] { [] }
    func upstreams() -> [UInt8] { [] }
    func audit() -> [UInt8] { [] }
    func config() -> [UInt8] { [] }
    func routes() -> [UInt8] { [] }
    func reload(actor: AdminActor) -> ReloadOutcome? { .ok(warnings: []) }
    func refusedReload(actor: AdminActor, reason: String) {}

    func samples(_ procedure: String) -> Result<[UInt8], ControlError> { .success([]) }

    func route(_ procedure: String) -> Result<[UInt8], ControlError> { .success(Array("{}".utf8)) }

    func clearStage(_ procedure: String, reason: String, actor: AdminActor) -> Result<[UInt8], ControlError> {
      asked.withLock { $0.append("\(procedure) clear \(reason) \(actor.address)") }
      return .success(Array("{}".utf8))
    }

    func hold(_ procedure: String, _ change: HoldChange, actor: AdminActor) -> Result<[UInt8], ControlError> {
      asked.withLock { $0.append("\(procedure) held \(change.isHeld) \(change.reason) \(actor.address)") }
      return .success(Array("{}".utf8))
    }

    func setStage(_ procedure: String, _ change: StageChange, actor: AdminActor) -> Result<[UInt8], ControlError> {
      let percent = change.percent.map { "\($0)" } ?? "-"
      asked.withLock { $0.append("\(procedure) \(change.stage) \(percent) \(change.reason)") }
      switch procedure {
      case "a.S/Missing": return .failure(.notFound("there is no route a.S/Missing;\ndid you mean a.S/Get?"))
      case "a.S/Fixed": return .failure(.invalid("a.S/Fixed has no rpc side"))
      default: return .success(Array("{}".utf8))
      }
    }
  }

  private let control = Control()

  private func server(token: String?) throws -> LocalServer {
    let handler = AdminHandler(role: .admin(token: token), control: control)
    let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
    return try LocalServer(address: any, name: "admin-test") { handler.respond(to: $0) }
  }

  @Test func movesARoute() throws {
    let server = try server(token: nil)
    let captured = Captured()
    let arguments = ["stage", "/a.S/Get", "canary", "--percent", "2.5%", "--reason", "slow start"]
    #expect(captured.run(arguments + ["--admin", "http://\(server.address.text)"]) == 0)
    #expect(captured.out == "a.S/Get: canary at 2.5%\n")
    #expect(captured.error == "")
    let named = Captured()
    let address = "http://localhost:\(server.address.port)"
    #expect(named.run(["stage", "a.S/Get", "rpc", "--admin", address]) == 0)
    #expect(named.out == "a.S/Get: rpc\n")
    #expect(control.asked.withLock { $0 } == ["a.S/Get canary 2.5 slow start", "a.S/Get rpc - "])
  }

  @Test func endsAChangeAndHoldsARamp() throws {
    let server = try server(token: nil)
    let admin = ["--admin", "http://\(server.address.text)"]
    for (arguments, said) in [
      (["stage", "a.S/Get", "--clear", "--reason", "done"], "a.S/Get: as the file says\n"),
      (["hold", "/a.S/Get", "--reason", "freeze"], "a.S/Get: the ramp is held\n"),
      (["hold", "a.S/Get", "--off"], "a.S/Get: the ramp goes on\n"),
    ] {
      let captured = Captured()
      #expect(captured.run(arguments + admin) == 0)
      #expect(captured.out == said)
    }
    #expect(
      control.asked.withLock { $0 } == [
        "a.S/Get clear done 127.0.0.1", "a.S/Get held true freeze 127.0.0.1", "a.S/Get held false  127.0.0.1",
      ])
  }

  @Test func sendsTheTokenOfTheEnvironment() throws {
    let server = try server(token: "s3cret")
    let arguments = ["stage", "a.S/Get", "rpc", "--admin", "http://\(server.address.text)"]
    let without = Captured()
    #expect(without.run(arguments) == 1)
    #expect(without.error.hasSuffix("wants its token: set TURNOUT_ADMIN_TOKEN to it (status 401)\n"))
    let other = Captured()
    #expect(other.run(arguments, environment: ["TURNOUT_ADMIN_TOKEN": "other"]) == 1)
    #expect(other.error.hasSuffix("does not take the token of TURNOUT_ADMIN_TOKEN (status 401)\n"))
    for wrong in ["other", "s3cret\r\nX: y"] {
      let captured = Captured()
      #expect(captured.run(arguments, environment: ["TURNOUT_ADMIN_TOKEN": wrong]) == 1)
      #expect(!captured.error.contains(wrong))
    }
    #expect(Captured().run(arguments, environment: ["TURNOUT_ADMIN_TOKEN": "s3cret"]) == 0)
    #expect(control.asked.withLock { $0.count } == 1)
  }

  @Test(arguments: [
    ("a.S/Missing", "turnout: there is no route a.S/Missing; did you mean a.S/Get? (status 404)\n"),
    ("a.S/Fixed", "turnout: a.S/Fixed has no rpc side (status 400)\n"),
  ])
  func refusalsAreOneLine(procedure: String, line: String) throws {
    let server = try server(token: nil)
    let captured = Captured()
    let arguments = ["stage", procedure, "rpc", "--admin", "http://\(server.address.text)"]
    #expect(captured.run(arguments) == 1)
    #expect(captured.error == line)
    #expect(captured.out == "")
  }

  @Test func nobodyThereIsOneLine() throws {
    let address: String
    do {
      let server = try server(token: nil)
      address = server.address.text
      server.stop()
      server.join()
    }
    let captured = Captured()
    #expect(captured.run(["stage", "a.S/Get", "rpc", "--admin", "http://\(address)"]) == 1)
    #expect(
      captured.error == "turnout: no answer from the admin endpoint http://\(address): Connection refused; "
        + "is it running? --admin names another\n")
  }

  @Test func someoneElseIsThere() throws {
    let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
    let server = try LocalServer(address: any, name: "other") { _ in .text("<html>", status: 502) }
    let captured = Captured()
    #expect(captured.run(["stage", "a.S/Get", "rpc", "--admin", "http://\(server.address.text)"]) == 1)
    #expect(
      captured.error == "turnout: http://\(server.address.text) answered 502, and not as Turnout's admin endpoint "
        + "does; --admin names another\n")
  }
}
