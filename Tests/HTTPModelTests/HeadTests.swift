import Bytes
import HTTPModel
import Testing

@Suite("Heads")
struct HeadTests {
  @Test(
    "path and query",
    arguments: [("/a?b=1?2", 2, "/a", "b=1?2"), ("/a", 2, "/a", ""), ("/a?", 2, "/a", ""), ("*", 1, "*", "")])
  func target(_ target: String, _ pathEnd: Int, _ path: String, _ query: String) {
    let head = RequestHead()
    head.target.append(text: target)
    head.pathEnd = pathEnd
    let readPath = head.withPath { span in String(repairing: span) }
    let readQuery = head.withQuery { span in String(repairing: span) }
    #expect(readPath == path && readQuery == query)
    #expect(head.targetText == target)
  }

  @Test("an empty head has an empty path and query")
  func empty() {
    let head = RequestHead()
    let path = head.withPath { span in span.count }
    let query = head.withQuery { span in span.count }
    #expect(path == 0 && query == 0)
  }

  @Test("clearing forgets all")
  func clearing() {
    let head = RequestHead()
    head.method = .put
    head.version = .http10
    head.target.append("/a?b")
    head.pathEnd = 2
    head.authority.append("h")
    head.fields.append("a", "1")
    head.removeAll()
    #expect(head.method == .get && head.version == .http11 && head.pathEnd == 0)
    #expect(head.targetText == "" && head.authority.count == 0 && head.fields.isEmpty)

    let response = ResponseHead()
    response.status = 204
    response.version = .http10
    response.fields.append("a", "1")
    response.removeAll()
    #expect(response.status == 0 && response.version == .http11 && response.fields.isEmpty)
  }

  @Test("interim responses", arguments: [(99, false), (100, true), (103, true), (199, true), (200, false)])
  func informational(_ status: Int, _ isInformational: Bool) {
    let head = ResponseHead()
    head.status = status
    #expect(head.isInformational == isInformational)
  }
}
