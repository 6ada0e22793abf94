import Diagnostics
import EventLoops
import Gateway
import HTTPModel
import Testing

@Suite struct AdminHandlerTests {
  static let loopback = address("127.0.0.1")

  /// Port 9901 of an IP literal.
  static func address(_ host: String) -> SocketAddress {
    guard let address = SocketAddress(host: host, port: 9901) else { preconditionFailure("no literal") }
    return address
  }

  static func request(
    _ method: HTTPMethod, _ path: String, body: String = "", authority: String = "127.0.0.1:9901",
    fields: [(name: String, value: String)] = [("content-type", "application/json")],
    listener: SocketAddress = loopback
  ) -> LocalRequest {
    LocalRequest(
      method: method, path: path, authority: authority, fields: fields, body: Array(body.utf8), listener: listener)
  }

  static func text(_ response: LocalResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  let stagePath = "/routes/a.b.Service/Method/stage"

  @Test(arguments: [
    ("/healthz", "ok\n"), ("/readyz", "ready\n"), ("/metrics", "turnout_requests_total 3\n"),
    ("/routes", #"{"routes":[]}"#), ("/audit", #"{"changes":[]}"#),
  ])
  func readsAreOpenOnLoopback(path: String, body: String) {
    let handler = AdminHandler(role: .admin(token: "secret"), control: ScriptedControl())
    let response = handler.respond(to: Self.request(.get, path, fields: []))
    #expect(response.status == 200)
    #expect(Self.text(response) == body)
  }

  @Test func readinessIs503WhileNotReady() {
    let handler = AdminHandler(role: .probes, control: ScriptedControl(isReady: false))
    #expect(handler.respond(to: Self.request(.get, "/readyz")).status == 503)
    #expect(handler.respond(to: Self.request(.get, "/healthz")).status == 200)
  }

  @Test func probesListenerHasNoControl() {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .probes, control: control)
    #expect(handler.respond(to: Self.request(.get, "/metrics")).status == 200)
    for (method, path) in [(HTTPMethod.get, "/routes"), (.put, stagePath), (.post, "/reload")] {
      #expect(handler.respond(to: Self.request(method, path, body: #"{"stage":"rpc"}"#)).status == 404)
    }
    #expect(control.stageCalls.isEmpty)
    #expect(control.reloads == 0)
  }

  @Test func readsOfAnOpenAddressNeedTheToken() {
    let open = AdminHandlerTests.address("10.0.0.5")
    let handler = AdminHandler(role: .admin(token: "secret"), control: ScriptedControl())
    for path in [
      "/routes", "/metrics", "/upstreams", "/audit", "/routes/a.b.Service/Method", "/routes/a.b.Service/Method/samples",
    ] {
      let refused = handler.respond(to: Self.request(.get, path, authority: open.text, listener: open))
      #expect(refused.status == 401)
      #expect(refused.fields.contains { $0.name == "www-authenticate" && $0.value == "Bearer" })
      let allowed = handler.respond(
        to: Self.request(
          .get, path, authority: open.text, fields: [("authorization", "bearer secret")], listener: open))
      #expect(allowed.status == 200)
    }
    #expect(handler.respond(to: Self.request(.get, "/healthz", listener: open)).status == 200)
  }

  @Test func stageReachesTheControlPlane() {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .admin(token: nil), control: control)
    let body = #"{"stage":"canary","percent":12.5,"reason":"try"}"#
    let response = handler.respond(to: Self.request(.put, stagePath, body: body))
    #expect(response.status == 200)
    #expect(Self.text(response) == #"{"stage":"rpc"}"#)
    let escaped = handler.respond(
      to: Self.request(.put, "/routes/a.b.Service%2FMethod/stage", body: #"{"stage":"rest","percent":null}"#))
    #expect(escaped.status == 200)
    #expect(
      control.stageCalls == [
        .init(procedure: "a.b.Service/Method", stage: "canary", percent: 12.5, reason: "try"),
        .init(procedure: "a.b.Service/Method", stage: "rest", percent: nil, reason: ""),
      ])
  }

  @Test(arguments: [
    ("", "empty"), ("[]", "object"), ("{}", "\"stage\" is missing"), (#"{"stage":1}"#, "must be a string"),
    (#"{"stage":"rpc","percent":101}"#, "0 to 100"), (#"{"stage":"rpc","percent":-1}"#, "0 to 100"),
    (#"{"stage":"rpc","percent":"5"}"#, "0 to 100"), (#"{"stage":"rpc","percent":1e999}"#, "0 to 100"),
    (#"{"stage":"rpc","stage":"rest"}"#, "twice"), (#"{"stage":"rpc","percnt":5}"#, "did you mean \"percent\"?"),
    (#"{"stage":"rpc"} x"#, "follow"), (#"{"stage":"\#(String(repeating: "x", count: 3))","reason":4}"#, "string"),
  ])
  func badStageBodiesAre400(body: String, word: String) throws {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .admin(token: nil), control: control)
    let response = handler.respond(to: Self.request(.put, stagePath, body: body))
    #expect(response.status == 400)
    let message = try #require(try JSONValue(parsing: response.body)["error"]?.text)
    #expect(message.contains(word), "\(message)")
    #expect(control.stageCalls.isEmpty)
  }

  @Test func whatWasSetCanBeClearedAndARampHeld() {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .admin(token: nil), control: control)
    let hold = "/routes/a.b.Service/Method/hold"
    for (method, path, body) in [
      (HTTPMethod.delete, stagePath, #"{"reason":"over"}"#), (.delete, stagePath, ""),
      (.put, hold, #"{"held":true,"reason":"freeze"}"#), (.put, hold, #"{"held":false}"#),
    ] {
      #expect(handler.respond(to: Self.request(method, path, body: body)).status == 200)
    }
    #expect(control.stageCalls.map(\.stage) == ["clear", "clear", "hold", "release"])
    #expect(control.stageCalls.map(\.reason) == ["over", "", "freeze", ""])
    for (method, path, body) in [
      (HTTPMethod.delete, stagePath, #"{"stage":"rpc"}"#), (.delete, stagePath, "[]"), (.put, hold, ""),
      (.put, hold, "{}"), (.put, hold, #"{"held":"yes"}"#), (.put, hold, #"{"held":true,"why":"x"}"#),
    ] {
      #expect(handler.respond(to: Self.request(method, path, body: body)).status == 400)
    }
    #expect(control.stageCalls.count == 4)
    #expect(handler.respond(to: Self.request(.get, "/routes/a.b.Service/Method")).status == 200)
  }

  @Test func controlErrorsHaveTheirStatus() {
    for (error, status) in [(ControlError.notFound("no route"), 404), (.invalid("no rpc side"), 400)] {
      let handler = AdminHandler(
        role: .admin(token: nil), control: ScriptedControl(stageAnswer: .failure(error)))
      let response = handler.respond(to: Self.request(.put, stagePath, body: #"{"stage":"rpc"}"#))
      #expect(response.status == status)
    }
  }

  @Test func reloadAnswersItsOutcome() throws {
    let place = SourcePosition(file: "turnout.yaml", line: 3, column: 5)
    let fault = Diagnostic(at: place, "unknown key \"stagee\"", cure: "write \"stage\"")
    let failed = AdminHandler(
      role: .admin(token: nil), control: ScriptedControl(reloadAnswer: .failed([fault])))
    let response = failed.respond(to: Self.request(.post, "/reload"))
    #expect(response.status == 422)
    #expect(
      Self.text(response)
        == #"{"outcome":"failed","errors":[{"file":"turnout.yaml","line":3,"column":5,"#
        + #""message":"unknown key \"stagee\"; write \"stage\""}]}"#)

    let hint = Diagnostic(severity: .warning, at: place, "a hint")
    let both = AdminHandler(
      role: .admin(token: nil), control: ScriptedControl(reloadAnswer: .failed([hint, fault])))
    #expect(
      Self.text(both.respond(to: Self.request(.post, "/reload")))
        == #"{"outcome":"failed","errors":[{"file":"turnout.yaml","line":3,"column":5,"#
        + #""message":"unknown key \"stagee\"; write \"stage\""}],"warnings":[{"file":"turnout.yaml","line":3,"#
        + #""column":5,"message":"a hint"}]}"#)

    let slow = AdminHandler(role: .admin(token: nil), control: ScriptedControl(reloadAnswer: nil))
    #expect(slow.respond(to: Self.request(.post, "/reload")).status == 503)

    let control = ScriptedControl()
    let fine = AdminHandler(role: .admin(token: nil), control: control)
    #expect(Self.text(fine.respond(to: Self.request(.post, "/reload"))) == #"{"outcome":"ok"}"#)
    #expect(Self.text(fine.respond(to: Self.request(.post, "/reload", body: "{}"))) == #"{"outcome":"ok"}"#)
    #expect(fine.respond(to: Self.request(.post, "/reload", body: #"{"a":1}"#)).status == 400)
    #expect(control.reloads == 2)
  }

  /// Who may not ask for a reload is told of; who may not ask for anything else is not.
  @Test func aRefusedReloadReachesTheControlPlane() {
    let control = ScriptedControl()
    let handler = AdminHandler(role: .admin(token: "secret"), control: control)
    #expect(handler.respond(to: Self.request(.post, "/reload")).status == 401)
    #expect(handler.respond(to: Self.request(.put, stagePath, body: #"{"stage":"rpc"}"#)).status == 401)
    #expect(control.reloads == 0)
    #expect(control.refusals.count == 1)
    #expect(control.refusals.first?.contains("false the admin token is missing") == true, "\(control.refusals)")
  }

  @Test(arguments: [
    ("POST", "/metrics", "GET, HEAD"), ("GET", "/reload", "POST"), ("POST", "/routes/a.S/M/stage", "PUT, DELETE"),
    ("DELETE", "/routes/a.S/M/hold", "PUT"), ("PUT", "/routes/a.S/M", "GET, HEAD"),
    ("DELETE", "/routes", "GET, HEAD"), ("PUT", "/healthz", "GET, HEAD"),
    ("POST", "/", "GET, HEAD"),
  ])
  func otherMethodsAre405(method: String, path: String, allow: String) {
    let handler = AdminHandler(role: .admin(token: nil), control: ScriptedControl())
    let response = handler.respond(to: Self.request(HTTPMethod(method), path))
    #expect(response.status == 405)
    #expect(response.fields.contains { $0.name == "allow" && $0.value == allow })
  }

  @Test(arguments: [
    "/route", "/routes/", "/routes//M/stage", "/routes/a.S//stage", "/routes/a/b/c/stage",
    "/routes/a.S/M/stages", "/routes/%zz/M/stage", "/routes/stage", "/Metrics",
  ])
  func otherPathsAre404(path: String) {
    let handler = AdminHandler(role: .admin(token: nil), control: ScriptedControl())
    #expect(handler.respond(to: Self.request(.put, path, body: #"{"stage":"rpc"}"#)).status == 404)
  }
}
