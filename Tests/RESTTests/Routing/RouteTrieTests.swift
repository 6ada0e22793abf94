import Bytes
import HTTPModel
import Testing

@testable import REST

/// Templates as `METHOD template`, targets are their places in the list.
func trie(_ rules: [String]) throws -> RouteTrie {
  var builder = RouteTrieBuilder()
  for (target, rule) in rules.enumerated() {
    let parts = rule.split(separator: " ").map(String.init)
    let other = builder.insert(method: parts[0], template: try PathTemplate.parse(parts[1]), target: target)
    #expect(other == nil)
  }
  return builder.build()
}

/// `target: capture | capture`, or the outcome.
func look(_ trie: RouteTrie, _ method: String, _ path: String) -> String {
  var captures: [Range<Int>] = []
  let bytes = Array(path.utf8)
  switch trie.match(method: HTTPMethod(method), path: bytes.span, captures: &captures) {
  case .matched(let target):
    let values = captures.map { String(decoding: bytes[$0], as: UTF8.self) }
    return "\(target): " + values.joined(separator: " | ")
  case .methodNotAllowed(let allow): return "405 " + allow.joined(separator: ",")
  case .notFound: return "404"
  }
}

@Suite("Route trie")
struct RouteTrieTests {
  let parcels = [
    "GET /v1/parcels/{id}", "GET /v1/parcels", "POST /v1/parcels/search", "POST /v1/depots/{depot}/parcels",
    "PATCH /v1/parcels/{parcel.id}", "POST /v1/parcels/{id}:cancel", "GET /v1/{name=depots/*/parcels/*}",
    "GET /v1/files/{path=**}", "GET /v1/tree/{path=**}:stat", "GET /v1/sched/{at}", "GET /v1/parcels/{id}/tags",
    "PUT /v1/parcels/{id}/tags",
  ]

  @Test(
    "paths of one API",
    arguments: [
      ("GET", "/v1/parcels/p1", "0: p1"), ("GET", "/v1/parcels", "1: "),
      ("POST", "/v1/parcels/search", "2: "), ("GET", "/v1/parcels/search", "0: search"),
      ("POST", "/v1/depots/d/parcels", "3: d"), ("PATCH", "/v1/parcels/p", "4: p"),
      ("POST", "/v1/parcels/a:b:cancel", "5: a:b"), ("GET", "/v1/parcels/box:7:x", "0: box:7:x"),
      ("GET", "/v1/depots/d%2F1/parcels/p", "6: depots/d%2F1/parcels/p"),
      ("GET", "/v1/files", "7: "), ("GET", "/v1/files/x%2Fy/z%20w", "7: x%2Fy/z%20w"),
      ("GET", "/v1/tree/a/b:stat", "8: a/b"), ("GET", "/v1/tree:stat", "8: "), ("GET", "/v1/tree/a/b", "404"),
      ("GET", "/v1/sched/2026-03-01T10:00:00Z", "9: 2026-03-01T10:00:00Z"),
      ("GET", "/v1/parcels/p/tags", "10: p"), ("PUT", "/v1/parcels/p/tags", "11: p"),
      ("HEAD", "/v1/parcels/p1", "0: p1"), ("GET", "/v1/parcels/a%2Fb", "0: a%2Fb"),
      ("GET", "/v1/parcels/p%3Acancel", "0: p%3Acancel"), ("POST", "/v1/parcels/p%3Acancel", "405 GET,HEAD,PATCH"),
      ("GET", "/v1/parcels/a:cancel", "405 POST"), ("DELETE", "/v1/parcels/p1", "405 GET,HEAD,PATCH"),
      ("DELETE", "/v1/parcels/search", "405 GET,HEAD,PATCH,POST"),
      ("OPTIONS", "/v1/parcels/p/tags", "405 GET,HEAD,PUT"),
      ("GET", "/v1/parcels/", "404"), ("GET", "/v1/parcels/p1/", "404"), ("GET", "/v1//parcels", "404"),
      ("GET", "/v1/files/", "404"), ("GET", "/v1/files/a//b", "404"), ("GET", "/v1/files/a/", "404"),
      ("GET", "/", "404"), ("GET", "", "404"), ("GET", "v1/parcels", "404"), ("GET", "/v1", "404"),
      ("GET", "/V1/parcels", "404"), ("get", "/v1/parcels", "405 GET,HEAD"), ("GET", "/v1/p%61rcels/x", "0: x"),
      ("GET", "/v1/parcels/:cancel", "0: :cancel"), ("POST", "/v1/parcels/p:", "405 GET,HEAD,PATCH"),
    ])
  func paths(method: String, path: String, expected: String) throws {
    #expect(look(try trie(parcels), method, path) == expected)
  }

  @Test("a literal branch without the binding does not hide its wildcard sibling")
  func backtracking() throws {
    let trie = try trie(["POST /a/b/c", "GET /a/{x}/c", "GET /{y=**}", "GET /a/b/{z}/d", "GET /a/*/e/f"])
    #expect(look(trie, "POST", "/a/b/c") == "0: ")
    #expect(look(trie, "GET", "/a/b/c") == "1: b")
    #expect(look(trie, "GET", "/a/b/d") == "2: a/b/d")
    #expect(look(trie, "GET", "/a/b/e/d") == "3: e")
    #expect(look(trie, "GET", "/a/b/e/f") == "4: ")
    #expect(look(trie, "GET", "/a/b/e/g") == "2: a/b/e/g")
    #expect(look(trie, "GET", "/") == "2: ")
    #expect(look(trie, "DELETE", "/a/b/c") == "405 GET,HEAD,POST")
  }

  @Test("literal before * before **, whatever the order of insertion")
  func precedence() throws {
    let rules = ["GET /v/{a=**}", "GET /v/{b}", "GET /v/x"]
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
      let trie = try trie(order.map { rules[$0] })
      let targets = ["/v/x", "/v/y", "/v/y/z", "/v"].map { look(trie, "GET", $0).prefix(1) }
      #expect(targets.map { order[Int($0) ?? 9] } == [2, 1, 0, 0])
    }
  }

  @Test("a method of its own goes before *, HEAD of its own before GET")
  func anyMethod() throws {
    let trie = try trie(["* /x", "POST /x", "GET /x", "HEAD /y", "GET /y", "LIST /z"])
    #expect(look(trie, "POST", "/x") == "1: ")
    #expect(look(trie, "HEAD", "/x") == "2: ")
    #expect(look(trie, "LOCK", "/x") == "0: ")
    #expect(look(trie, "HEAD", "/y") == "3: ")
    #expect(look(trie, "LIST", "/z") == "5: ")
    #expect(look(trie, "GET", "/z") == "405 LIST")
  }

  @Test("escaped literals are compared decoded on both sides")
  func escapedLiterals() throws {
    let trie = try trie(["GET /a%20b/{x}", "GET /t%3Au", "GET /t:u", "GET /é"])
    #expect(look(trie, "GET", "/a%20b/1") == "0: 1")
    #expect(look(trie, "GET", "/%61%20b/1") == "0: 1")
    #expect(look(trie, "GET", "/t%3Au") == "1: ")
    #expect(look(trie, "GET", "/t:u") == "2: ")
    #expect(look(trie, "GET", "/%C3%A9") == "3: ")
    #expect(look(trie, "GET", "/a%2") == "404")
    #expect(look(trie, "GET", "/%") == "404")
  }

  @Test("a literal that holds an escaped percent is not what its own text escapes")
  func escapedPercent() throws {
    let trie = try trie(["GET /a%2541"])
    #expect(look(trie, "GET", "/a%2541") == "0: ")
    #expect(look(trie, "GET", "/a%41") == "404")
    #expect(look(trie, "GET", "/aA") == "404")
  }

  @Test("equivalent templates of one method are refused with the other's target")
  func conflicts() throws {
    var builder = RouteTrieBuilder()
    let insert: (inout RouteTrieBuilder, String, String, Int) throws -> Int? = { builder, method, text, target in
      builder.insert(method: method, template: try PathTemplate.parse(text), target: target)
    }
    #expect(try insert(&builder, "GET", "/v1/{a}", 1) == nil)
    #expect(try insert(&builder, "GET", "/v1/{b=*}", 2) == 1)
    #expect(try insert(&builder, "POST", "/v1/{b}", 3) == nil)
    #expect(try insert(&builder, "*", "/v1/{b}", 4) == nil)
    #expect(try insert(&builder, "*", "/v1/*", 5) == 4)
    #expect(try insert(&builder, "GET", "/v1/{b}:x", 6) == nil)
    #expect(try insert(&builder, "GET", "/v1/{c}:x", 7) == 6)
    #expect(try insert(&builder, "GET", "/v1/{c=**}", 8) == nil)
    #expect(try insert(&builder, "GET", "/v1/**", 9) == 8)
    let built = builder.build()
    #expect(look(built, "GET", "/v1/q") == "1: q")
  }

  @Test("two captures, one inside and one behind")
  func captures() throws {
    let trie = try trie(["GET /{a=x/*}/y/{b}/{c=z/**}:v", "GET /p/{q}/*/{r=*/s}"])
    #expect(look(trie, "GET", "/x/1/y/2/z/3/4:v") == "0: x/1 | 2 | z/3/4")
    #expect(look(trie, "GET", "/x/1/y/2/z:v") == "0: x/1 | 2 | z")
    #expect(look(trie, "GET", "/p/1/2/3/s") == "1: 1 | 3/s")
  }

  @Test("an empty trie, and many routes at one node")
  func sizes() throws {
    #expect(look(RouteTrieBuilder().build(), "GET", "/x") == "404")
    let many = try trie((0..<500).map { "GET /v1/r\($0)/{id}" })
    for index in stride(from: 0, to: 500, by: 7) {
      #expect(look(many, "GET", "/v1/r\(index)/k") == "\(index): k")
    }
    #expect(look(many, "GET", "/v1/r500/k") == "404")
  }

  @Test("the captures array is reused: nothing of an earlier match stays")
  func reuse() throws {
    let trie = try trie(parcels)
    var captures: [Range<Int>] = []
    #expect(
      trie.match(method: .get, path: Array("/v1/parcels/p".utf8).span, captures: &captures) == .matched(target: 0))
    #expect(captures == [12..<13])
    #expect(trie.match(method: .get, path: Array("/nope".utf8).span, captures: &captures) == .notFound)
    #expect(captures.isEmpty)
  }
}

@Suite("Path variants")
struct PathVariantsTests {
  @Test(
    "plain forms",
    arguments: [
      ("/v1/x", "/v1/x"), ("/", "/"), ("//", "/"), ("/v1//x", "/v1/x"), ("/v1/x/", "/v1/x"), ("/v1/./x", "/v1/x"),
      ("/v1/a/../x", "/v1/x"), ("/../x", "/x"), ("/v1/x/..", "/v1"), ("/v1/%2e%2E/x", "/x"), ("/v1%2Fx", "/v1/x"),
      ("/v1\\x", "/v1/x"), ("/v1/%5cx", "/v1/x"), ("/%76%31/x", "/v1/x"), ("/v1/a%20b", "/v1/a%20b"),
      ("/v1/.../x", "/v1/.../x"), ("/v1/.x", "/v1/.x"), ("/v1/%2", "/v1/%2"), ("/v1/a%3Ab", "/v1/a:b"),
      ("/v1/x%2f", "/v1/x"),
      ("/V1/X", "/V1/X"), ("/a/b/../../c", "/c"), ("/a/..", "/"), ("/v1/a%252Fb", "/v1/a%252Fb"), ("", "/"),
      ("/..", "/"),
    ])
  func plain(path: String, expected: String) {
    var output = ByteBuffer([1, 2])
    _ = PathNormalizer.write(Array(path.utf8).span, PathReading(), into: &output)
    #expect(String(repairing: output.span) == expected)
    // The look that saves the writing may say yes too often, and no never wrongly.
    let mayDiffer = PathVariants.mayDiffer(Array(path.utf8).span)
    #expect(mayDiffer || path == expected)
  }

  @Test("of usual paths it is known without writing them", arguments: ["/", "/v1/x", "/v1/x.y/z:verb", "/V1/a.b..c"])
  func usual(path: String) {
    let mayDiffer = PathVariants.mayDiffer(Array(path.utf8).span)
    #expect(!mayDiffer)
  }

  @Test("what may be read otherwise is found wherever it stands in a path of any length")
  func everyPlace() {
    for length in 1...50 {
      let usual = [UInt8(ascii: "/")] + [UInt8](repeating: UInt8(ascii: "a"), count: length)
      let isUsual = !PathVariants.mayDiffer(usual.span)
      #expect(isUsual, "\(length)")
      for mark in ["%", "\\", ";", "//", "/.", "/"] {
        for place in 0...length + 1 {
          let path = Array((usual[..<place] + Array(mark.utf8) + usual[place...]))
          let isFound = PathVariants.mayDiffer(path.span)
          // One slash more is none beside another, or at the end.
          let isMeant = mark != "/" || place < 2 || place == path.count - 1
          #expect(isFound == isMeant, "\(mark) at \(place) of \(length)")
        }
      }
    }
  }

  @Test("with slashes kept as data")
  func keepingSlashes() {
    var output = ByteBuffer()
    _ = PathNormalizer.write(Array("/v1//a%2Fb%5C/".utf8).span, .keepingSlashes, into: &output)
    #expect(String(repairing: output.span) == "/v1/a%2Fb%5C")
  }

  @Test("a path that meets a route only in another spelling is found")
  func meeting() throws {
    let trie = try trie(["GET /v1/parcels/{id}", "POST /v1/admin:drop"])
    var scratch = PathScratch()
    let meets: (String) -> Bool = { path in
      PathVariants.anyForm(of: Array(path.utf8).span, scratch: &scratch) { trie.describes($0) }
    }
    for path in [
      "/v1/parcels/a%2Fb/", "/v1/parcels/p/", "/v1//parcels/p", "/v1%2Fparcels/p", "/x/../v1/admin:drop",
      "/v1/admin%3adrop",
    ] {
      #expect(look(trie, "GET", path) == "404")
      #expect(meets(path), "\(path)")
    }
    for path in ["/v1/parcels/p", "/v1/other/", "/V1/parcels/p/", "/v1/parcels/"] { #expect(!meets(path), "\(path)") }
  }

  /// Each line is a path, and what some servers make of it.
  @Test(
    "all readings that servers have are tried",
    arguments: [
      ("/x/../v1/a", "/v1/a"), ("/v1//x/../a", "/v1/a"), ("/v1/a//../b", "/v1/a/b"), ("/v1/a/%2e%2e", "/v1"),
      ("/v1/a;x=1/b", "/v1/a/b"), ("/v1/a/..;x/b", "/v1/b"), ("/v1%5Ca", "/v1/a"), ("/v1\\a", "/v1/a"),
      ("/v1%252fa", "/v1/a"), ("/v1/%252e%252e/a", "/a"), ("/v1%25%32%66a", "/v1/a"), ("/v1%2%66a", "/v1/a"),
      ("/x/../v1/%2e%2e", "/v1/%2e%2e"), ("/v1/q/%2e%2e/../../a%2Fb", "/v1/a/b"),
      ("/x/../v1/a%2Fb", "/v1/a%2Fb"), ("/x/../v1/a\\b", "/v1/a\\b"), ("/x/../v1/a;b", "/v1/a;b"),
      ("/v1//x//../../a", "/v1/a"),
    ])
  func readings(path: String, meaning: String) {
    var scratch = PathScratch()
    let bytes = Array(path.utf8)
    let wanted = Array(meaning.utf8)
    let isFound = PathVariants.anyForm(of: bytes.span, scratch: &scratch) { form in
      String(repairing: form) == String(repairing: wanted.span)
    }
    #expect(isFound)
    let mayDiffer = PathVariants.mayDiffer(bytes.span)
    #expect(mayDiffer)
  }

  @Test("a path too ambiguous to be looked at is taken for one that has the property")
  func tooAmbiguous() {
    var scratch = PathScratch()
    let path = Array(String(repeating: "/%252e", count: 2_000).utf8)
    let isFound = PathVariants.anyForm(of: path.span, scratch: &scratch) { _ in false }
    #expect(isFound)
    let long = Array(String(repeating: "/%20", count: 2_000).utf8)
    let isFoundInUsual = PathVariants.anyForm(of: long.span, scratch: &scratch) { _ in false }
    #expect(!isFoundInUsual)
  }

  @Test("dot segments are seen however they are written")
  func dotSegments() {
    var scratch = PathScratch()
    for path in [
      "/a/..", "/a/.", "/./a", "/a/%2e", "/a/%2E%2e/b", "/a/..;x", "/a/%252e%252e", "/a/x%2f..%2fy", "/a\\..",
      "/a/..%5c",
      "/a/..%252f", "/a/..%3bx", "/a/.%252e",
    ] {
      let isSeen = PathVariants.holdsDotSegment(Array(path.utf8).span, scratch: &scratch)
      #expect(isSeen, "\(path)")
    }
    for path in ["/a/...", "/a/..b", "/a/.b", "/a/b.", "/a.b/c..d", "/a/%2e%2e%2e", "/a/%20", "/a;../b", "/", ""] {
      let isSeen = PathVariants.holdsDotSegment(Array(path.utf8).span, scratch: &scratch)
      #expect(!isSeen, "\(path)")
    }
  }
}
