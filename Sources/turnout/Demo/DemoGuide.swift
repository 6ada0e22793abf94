/// What the demo prints: where everything listens, and five lines to paste.
struct DemoGuide: Sendable {
  struct Step: Sendable {
    var what: String
    var command: String
  }

  /// `http://host:port` each.
  var gateway: String
  var admin: String
  var legacy: String
  var connect: String

  var steps: [Step] {
    let service = "pivot.content.v1.ContentService"
    let json = "-H 'Content-Type: application/json'"
    return [
      Step(
        what: "a REST client on a route that has moved: translated to Connect and back",
        command: "curl -i '\(gateway)/v1/tags:featured'"),
      Step(
        what: "a Connect client on a route that has not: translated to REST and back",
        command: "curl -i \(json) -d '{\"id\":\"e2\"}' \(gateway)/\(service)/GetEpisode"),
      Step(
        what: "a PATCH: the field mask is made from what the body holds",
        command: "curl -i -X PATCH \(json) -d '{\"displayName\":\"Ada\"}' \(gateway)/v1/profiles/ada"),
      Step(
        what: "move GetEpisode to the new backend, while it is served",
        command: "curl -i -X PUT \(json) -d '{\"stage\":\"rpc\"}' \(admin)/routes/\(service)/GetEpisode/stage"),
      Step(
        what: "the old REST client notices nothing but x-demo-backend",
        command: "curl -i \(gateway)/v1/episodes/e2"),
    ]
  }

  var text: String {
    var text = """

      gateway          \(gateway)
      admin            \(admin)  (/routes, /metrics)
      legacy service   \(legacy)  REST and JSON
      new service      \(connect)  Connect

      Try this in another terminal. The answer's header x-demo-backend names who answered.


      """
    for (index, step) in steps.enumerated() { text += "\(index + 1). \(step.what)\n\n     \(step.command)\n\n" }
    return text + """
      turnout stage moves routes too: turnout stage pivot.content.v1.ContentService/GetEpisode rest --admin \(admin)
      End the demo with Ctrl-C.


      """
  }
}
