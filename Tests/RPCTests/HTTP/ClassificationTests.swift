import HTTPModel
import RPC
import Testing

@Suite("Which protocol a request speaks")
struct ClassificationTests {
  private func classify(_ method: HTTPMethod, _ fields: [(String, String)], allowsGet: Bool = false)
    -> ProcedureRequest
  {
    let head = RequestHead()
    head.method = method
    for (name, value) in fields { head.fields.append(name, value) }
    return ProcedureRequest.classify(head, allowsGet: allowsGet)
  }

  @Test(arguments: [
    ("application/proto", ProcedureRequest.connectUnary(.proto)),
    ("application/json", .connectUnary(.json)),
    ("Application/JSON ; charset=UTF-8", .connectUnary(.json)),
    (" application/proto\t", .connectUnary(.proto)),
    ("application/connect+proto", .connectStreaming(.proto)),
    ("application/connect+json;x=y", .connectStreaming(.json)),
    ("application/grpc", .grpc(codec: .proto)),
    ("application/grpc+proto", .grpc(codec: .proto)),
    ("application/grpc; charset=utf-8", .grpc(codec: .proto)),
    ("APPLICATION/GRPC+JSON", .grpc(codec: .json)),
    ("application/grpc+thrift", .grpc(codec: nil)),
    ("application/grpc-web", .grpcWeb(codec: .proto, isText: false)),
    ("application/grpc-web+proto", .grpcWeb(codec: .proto, isText: false)),
    ("application/grpc-web+json", .grpcWeb(codec: .json, isText: false)),
    ("application/grpc-web+flat", .grpcWeb(codec: nil, isText: false)),
    ("application/grpc-web-text", .grpcWeb(codec: .proto, isText: true)),
    ("application/grpc-web-text+proto", .grpcWeb(codec: .proto, isText: true)),
    ("application/grpc-web-text+json", .grpcWeb(codec: .json, isText: true)),
    ("application/grpc+", .unsupportedMediaType),
    ("application/grpc+a b", .unsupportedMediaType),
    ("application/grpc-web+", .unsupportedMediaType),
    ("application/grpcfoo", .unsupportedMediaType),
    ("application/grpc-webfoo", .unsupportedMediaType),
    ("application/connect+xml", .unsupportedMediaType),
    ("application/connect", .unsupportedMediaType),
    ("application/foo", .unsupportedMediaType),
    ("text/json", .unsupportedMediaType),
    ("application/json, application/json", .unsupportedMediaType),
    ("", .unsupportedMediaType),
  ])
  func byContentType(type: String, expected: ProcedureRequest) {
    #expect(classify(.post, [("content-type", type)]) == expected)
    #expect(classify(.post, [("Content-Type", type), ("Connect-Protocol-Version", "1")]) == expected)
  }

  @Test func postWithoutOrWithTwoContentTypes() {
    #expect(classify(.post, []) == .unsupportedMediaType)
    let twice = [("content-type", "application/json"), ("content-type", "application/proto")]
    #expect(classify(.post, twice) == .unsupportedMediaType)
  }

  @Test func getOnlyWithoutSideEffects() {
    #expect(classify(.get, [], allowsGet: true) == .connectGet)
    #expect(classify(.get, [("content-length", "0")], allowsGet: true) == .connectGet)
    #expect(classify(.get, [], allowsGet: false) == .methodNotAllowed)
  }

  @Test func getWithBodyIsRefused() {
    #expect(classify(.get, [("content-length", "3")], allowsGet: true) == .unsupportedMediaType)
    #expect(classify(.get, [("content-length", "x")], allowsGet: true) == .unsupportedMediaType)
    #expect(classify(.get, [("transfer-encoding", "chunked")], allowsGet: true) == .unsupportedMediaType)
  }

  @Test(arguments: [HTTPMethod.put, .delete, .head, .options, .patch, .other("FOO")])
  func otherMethods(method: HTTPMethod) {
    #expect(classify(method, [("content-type", "application/proto")], allowsGet: true) == .methodNotAllowed)
  }

  @Test func refusalsCarryTheirHeaders() {
    let type = RPCError.unsupportedMediaType()
    #expect(type.httpStatus == 415)
    #expect(type.code == Code(inferredFromStatus: 415))
    #expect(type.headers.map(\.name) == ["accept-post"])
    #expect(type.headers.map(\.value) == ["application/json, application/proto"])
    #expect(RPCError.methodNotAllowed(allowsGet: false).headers.map(\.value) == ["POST"])
    let method = RPCError.methodNotAllowed(allowsGet: true)
    #expect(method.httpStatus == 405)
    #expect(method.headers.map(\.name) == ["allow"])
    #expect(method.headers.map(\.value) == ["GET, POST"])
  }
}

@Suite("Media types")
struct MediaTypeTests {
  @Test(arguments: [
    ("application/json", true), ("Application/Json;charset=utf-8", true), ("text/json", true),
    ("application/problem+json", true), ("application/vnd.api+JSON; v=1", true), ("application/json5", false),
    ("application/connect+json", false), ("application/grpc+json", false), ("application/grpc-web+json", false),
    ("text/html", false), ("+json", false), ("", false), (";application/json", false),
  ])
  func json(value: String, expected: Bool) {
    #expect(MediaType.isJSON(bytes(value).span) == expected)
  }

  private func isHTML(_ value: String) -> Bool { MediaType.matches(bytes(value).span, "text/html") }

  @Test func matching() {
    #expect(isHTML("\t text/HTML ;q=1"))
    #expect(!isHTML("text/html5"))
    #expect(!isHTML("text/htm"))
    #expect(!isHTML(""))
  }
}
