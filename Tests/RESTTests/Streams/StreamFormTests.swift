import HTTPModel
import REST
import Testing

@Suite("Forms of a stream by Accept")
struct StreamFormTests {
  private func choose(_ accept: [String], own: StreamForm = .ndjson) -> String {
    let fields = FieldBlock()
    for value in accept { fields.append("Accept", value) }
    let choice = StreamForm.choose(fields, own: own)
    return "\(choice.form.rawValue) \(choice.contentType)"
  }

  @Test func withoutAccept() {
    #expect(choose([]) == "ndjson application/x-ndjson")
    #expect(choose([], own: .array) == "array application/json")
    #expect(choose([], own: .sse) == "sse text/event-stream")
  }

  @Test(arguments: [
    ("application/json", "array application/json"),
    ("text/event-stream", "sse text/event-stream"),
    ("application/x-ndjson", "ndjson application/x-ndjson"),
    ("application/jsonl", "ndjson application/jsonl"),
    ("Application/JSONL; charset=utf-8", "ndjson application/jsonl"),
    ("application/ndjson", "ndjson application/ndjson"),
    ("*/*", "ndjson application/x-ndjson"),
    ("text/*", "sse text/event-stream"),
    ("application/*", "ndjson application/x-ndjson"),
    // What many clients send: the named type is what they mean.
    ("application/json, text/plain, */*", "array application/json"),
    ("text/event-stream;q=0.5, application/json;q=0.9", "array application/json"),
    ("application/json;q=0.5, text/event-stream;q=0.501", "sse text/event-stream"),
    ("application/json;q=0.3, */*", "ndjson application/x-ndjson"),
    ("application/json;q=0, */*", "ndjson application/x-ndjson"),
    ("application/x-ndjson;q=0, */*;q=0.1", "ndjson application/jsonl"),
    ("application/json;v=1;q=1, text/event-stream;q=0.999", "array application/json"),
    // None of the forms, or nothing legible: the route's own.
    ("text/html", "ndjson application/x-ndjson"), ("application/json;q=0", "ndjson application/x-ndjson"),
    ("", "ndjson application/x-ndjson"), (",,;q=1,", "ndjson application/x-ndjson"),
    ("application/json;q=2", "ndjson application/x-ndjson"), ("application/json;q=x", "ndjson application/x-ndjson"),
    ("application/json;q=0.1234", "ndjson application/x-ndjson"),
    ("application/json;q=", "ndjson application/x-ndjson"),
  ])
  func byAccept(accept: String, expected: String) {
    #expect(choose([accept]) == expected)
  }

  @Test func severalFieldsAreOneList() {
    #expect(choose(["text/html", "application/json;q=0.2", "text/event-stream"]) == "sse text/event-stream")
  }

  @Test func amongEqualsTheRoutesOwn() {
    #expect(choose(["application/json, text/event-stream"], own: .sse) == "sse text/event-stream")
    #expect(choose(["application/json, text/event-stream"], own: .array) == "array application/json")
    #expect(choose(["*/*"], own: .sse) == "sse text/event-stream")
    #expect(choose(["text/html"], own: .sse) == "sse text/event-stream")
  }

  @Test func longListsAreBounded() {
    let many = Array(repeating: "a/b", count: 10_000).joined(separator: ",")
    #expect(choose([many + ",application/json"]) == "ndjson application/x-ndjson")
    #expect(choose(["application/json," + many]) == "array application/json")
  }
}
