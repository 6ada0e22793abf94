import REST
import Testing

@Suite("Path templates")
struct PathTemplateTests {
  @Test("segments, captures and verb of a full template")
  func full() throws {
    let template = try PathTemplate.parse("/v1/{name=shelves/*/books/*}/x%20y/{rest=**}:publish")
    #expect(template.segments.count == 7)
    #expect(template.captures.map(\.fieldPath) == ["name", "rest"])
    #expect(template.captures.map(\.segments) == [1..<5, 6..<7])
    #expect(template.captures.map(\.isMultiSegment) == [true, true])
    #expect(template.captures.map(\.column) == [6, 37])
    #expect(template.verb?.text == "publish")
    guard case .literal(let literal) = template.segments[5] else {
      Issue.record("no literal")
      return
    }
    #expect(literal.text == "x%20y")
    #expect(literal.bytes == Array("x y".utf8))
  }

  @Test("a variable without pattern, with * and with one literal holds one segment")
  func single() throws {
    let template = try PathTemplate.parse("/{a}/{b.c_1=*}/{d=x}")
    #expect(template.captures.map(\.isMultiSegment) == [false, false, false])
    #expect(template.captures.map(\.fieldPath) == ["a", "b.c_1", "d"])
    #expect(template.verb == nil)
  }

  @Test("only the last colon of the last segment is the verb's")
  func colons() throws {
    let two = try PathTemplate.parse("/v1/a:b/c:d:e")
    #expect(two.verb?.text == "e")
    guard case .literal(let middle) = two.segments[1], case .literal(let last) = two.segments[2] else {
      Issue.record("no literals")
      return
    }
    #expect(middle.text == "a:b")
    #expect(last.text == "c:d")
    #expect(try PathTemplate.parse("/v1/tags:featured").verb?.text == "featured")
    #expect(try PathTemplate.parse("/v1/**:stat").verb?.text == "stat")
  }

  @Test("characters beyond ASCII are escaped for a target and compared as they are")
  func nonASCII() throws {
    let template = try PathTemplate.parse("/dépôts")
    guard case .literal(let literal) = template.segments[0] else {
      Issue.record("no literal")
      return
    }
    #expect(literal.text == "d%C3%A9p%C3%B4ts")
    #expect(literal.bytes == Array("dépôts".utf8))
  }

  @Test(
    "faults with their columns",
    arguments: [
      ("", 1, "begins with /"),
      ("v1/x", 1, "begins with /"),
      ("/", 2, "does not end with /"),
      ("/v1/", 5, "does not end with /"),
      ("/v1//x", 5, "a segment is empty"),
      ("/v1/{", 6, "field name"),
      ("/v1/{}", 6, "field name"),
      ("/v1/{1a}", 6, "field name"),
      ("/v1/{a.}", 8, "field name"),
      ("/v1/{a", 7, "no closing }"),
      ("/v1/{a=", 8, "does not end with /"),
      ("/v1/{a=}", 8, "a segment is empty"),
      ("/v1/{a=x/}", 10, "a segment is empty"),
      ("/v1/{a={b}}", 8, "holds no other variable"),
      ("/v1/{a=x/{b}}", 10, "holds no other variable"),
      ("/v1/{a}x", 8, "whole segment"),
      ("/v1/x{a}", 6, "whole segment"),
      ("/v1/x*", 6, "whole segment"),
      ("/v1/*x", 6, "whole segment"),
      ("/v1/***", 7, "whole segment"),
      ("/v1/**/x", 8, "may follow **"),
      ("/v1/{a=**}/x", 12, "may follow **"),
      ("/v1/{a}/{a}", 10, "stands twice"),
      ("/v1/{a}:", 9, "belongs after the colon"),
      ("/v1/x:", 7, "belongs after the colon"),
      ("/v1/:x", 5, "a variable is written {name}"),
      ("/v1/{a}:b:c", 10, "holds no colon"),
      ("/v1/{a}:b/c", 10, "/ may not stand here"),
      ("/v1/x?y", 6, "? may not stand here"),
      ("/v1/a b", 6, "may not stand here"),
      ("/v1/x}", 6, "} may not stand here"),
      ("/v1/%zz", 5, "escape"),
      ("/é/%2", 4, "escape"),
      ("/v1/../x", 5, "dot segment"),
      ("/v1/%2e", 5, "dot segment"),
      ("/v1/{a=b c}", 9, "may not stand here"),
    ])
  func faults(text: String, column: Int, part: String) {
    let error = #expect(throws: TemplateError.self) { try PathTemplate.parse(text) }
    #expect(error?.column == column)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test("no prefix of a template crashes the parser")
  func prefixes() {
    let text = "/v1/{name=shelves/*/books/*}/x%20y/{rest=**}:publish"
    for length in 0..<text.count {
      _ = try? PathTemplate.parse(String(text.prefix(length)))
      _ = try? PathTemplate.parse(String(text.suffix(length)))
    }
  }
}
