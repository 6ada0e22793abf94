import EventLoops
import Gateway
import HTTPModel
import Testing

/// What stands between a stranger, or a web page, and a changed gateway.
@Suite struct AdminGuardTests {
  private func status(
    token: String? = nil, authority: String = "127.0.0.1:9901", listener: SocketAddress = AdminHandlerTests.loopback,
    _ fields: [(name: String, value: String)]
  ) -> Int {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .admin(token: token), control: control)
    let response = handler.respond(
      to: AdminHandlerTests.request(.post, "/reload", authority: authority, fields: fields, listener: listener))
    #expect((control.reloads == 1) == (response.status == 200))
    return response.status
  }

  private let json: (name: String, value: String) = ("content-type", "application/json")

  @Test func theTokenIsNeededWhenOneIsSet() {
    #expect(status(token: "s3cret", [json]) == 401)
    for wrong in ["Bearer s3cre", "Bearer S3cret", "Basic s3cret", "s3cret", "Bearer", "Bearer s3cret2"] {
      #expect(status(token: "s3cret", [json, ("authorization", wrong)]) == 401, "\(wrong)")
    }
    #expect(status(token: "s3cret", [json, ("authorization", "Bearer s3cret")]) == 200)
    #expect(status(token: "s3cret", [json, ("authorization", "bearer  s3cret")]) == 200)
  }

  @Test(arguments: ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;q=1"])
  func jsonIsTaken(type: String) { #expect(status([("content-type", type)]) == 200) }

  @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "", ";application/json"])
  func otherTypesAre415(type: String) { #expect(status([("content-type", type)]) == 415) }

  @Test func noTypeIs415() { #expect(status([]) == 415) }

  @Test(arguments: ["127.0.0.1:9901", "localhost:9901", "[::1]:9901", "127.1.2.3:9901"])
  func loopbackNamesAreOwn(authority: String) { #expect(status(authority: authority, [json]) == 200) }

  @Test(arguments: [
    "evil.example:9901", "127.0.0.1", "127.0.0.1:9902", "127.evil.example:9901", "127.0.0.1.evil.example:9901",
    "127.0.be:9901", "10.0.0.5:9901", "", "localhost:", "[::1]x:9901", "[::1:9901", "localhost.evil.example:9901",
  ])
  func foreignHostsAre403(authority: String) { #expect(status(authority: authority, [json]) == 403) }

  @Test func anOpenAddressTakesOnlyItself() {
    let open = AdminHandlerTests.address("10.0.0.5")
    let fields: [(name: String, value: String)] = [json, ("authorization", "Bearer t")]
    #expect(status(token: "t", authority: "10.0.0.5:9901", listener: open, fields) == 200)
    #expect(status(token: "t", authority: "localhost:9901", listener: open, fields) == 403)
    #expect(status(token: "t", authority: "127.0.0.1:9901", listener: open, fields) == 403)
  }

  @Test(arguments: ["http://evil.example", "null", "https://127.0.0.1:9901", "http://127.0.0.1:8080", ""])
  func foreignOriginsAre403(origin: String) { #expect(status([json, ("origin", origin)]) == 403) }

  @Test(arguments: ["http://127.0.0.1:9901", "http://localhost:9901"])
  func ownOriginsPass(origin: String) { #expect(status([json, ("origin", origin)]) == 200) }

  @Test func aSecondForeignOriginIsSeen() {
    #expect(status([json, ("origin", "http://127.0.0.1:9901"), ("origin", "http://evil.example")]) == 403)
  }

  private func readStatus(
    authority: String, token: String? = nil, listener: SocketAddress = AdminHandlerTests.loopback,
    _ fields: [(name: String, value: String)] = []
  ) -> Int {
    let handler = AdminHandler(role: .admin(token: token), control: ScriptedControl())
    return handler.respond(
      to: AdminHandlerTests.request(.get, "/routes", authority: authority, fields: fields, listener: listener)
    ).status
  }

  /// To a browser that page's own server would be here.
  @Test(arguments: [
    "evil.example:9901", "evil.example", "127.0.0.1.evil.example:9901", "localhost.evil.example", "ai.:9901",
    "evil.example.:9901", "1.2.3.4x:9901", "a.b", "evil.example..:9901", "evil.example..", "a...",
  ])
  func aPageThatHasReboundItsNameReadsNothing(authority: String) {
    #expect(readStatus(authority: authority) == 403)
    #expect(readStatus(authority: authority, token: "t") == 403)
    #expect(readStatus(authority: authority, token: "t", [("authorization", "Bearer wrong")]) == 403)
    #expect(readStatus(authority: authority, token: "t", [("authorization", "Bearer t")]) == 200)
  }

  /// Through a tunnel the port is another one.
  @Test(arguments: [
    "127.0.0.1:9901", "localhost:1", "LOCALHOST", "127.1:9901", "127.0.0.1.", "[::1]:5", "turnout-admin:80", "",
    "admin.localhost:9901", "10.0.0.7:9901",
  ])
  func otherHostsReadOnLoopback(authority: String) { #expect(readStatus(authority: authority.lowercased()) == 200) }

  @Test func elsewhereTheTokenCounts() {
    let open = AdminHandlerTests.address("10.0.0.5")
    for (authority, fields, status) in [
      ("turnout.example:9901", [("authorization", "Bearer t")], 200), ("turnout.example:9901", [], 401),
    ] as [(String, [(name: String, value: String)], Int)] {
      #expect(readStatus(authority: authority, token: "t", listener: open, fields) == status)
    }
  }

  @Test func answersAreNotKeptRunOrEmbedded() {
    let handler = AdminHandler(role: .admin(token: "t"), control: ScriptedControl())
    for (method, path) in [(HTTPMethod.get, "/routes"), (.get, "/metrics"), (.put, "/reload"), (.get, "/nothing")] {
      let fields = handler.respond(to: AdminHandlerTests.request(method, path, fields: [])).fields
      for (name, value) in [
        ("cache-control", "no-store"), ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
      ] { #expect(fields.filter { $0.name == name }.map(\.value) == [value], "\(path)") }
    }
  }

  @Test func headAndGetOfRoutesNeedNothingOnLoopback() {
    let handler = AdminHandler(role: .admin(token: "t"), control: ScriptedControl())
    for method in [HTTPMethod.get, .head] {
      #expect(handler.respond(to: AdminHandlerTests.request(method, "/routes", fields: [])).status == 200)
    }
  }
}
