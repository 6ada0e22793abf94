import HTTPModel
import RPC
import Testing

@Suite("Content types of gRPC")
struct GRPCContentTypeTests {
  @Test(arguments: [
    ("application/grpc-web+proto", "application/grpc-web+proto"),
    ("Application/gRPC-Web-Text; charset=utf-8", "application/grpc-web-text"),
    (" application/grpc ", "application/grpc"),
    ("application/grpc+Foo", "application/grpc+foo"),
  ])
  func mirrored(request: String, expected: String) {
    let fields = FieldBlock()
    GRPCContentType.mirror(block([("content-type", request)]), into: fields)
    #expect(lines(fields) == ["content-type: \(expected)"])
  }

  private func code(_ type: String?, isWeb: Bool, _ codec: MessageCodec?) -> Code? {
    do throws(RPCError) {
      try GRPCContentType.check(block(type.map { [("content-type", $0)] } ?? []), isWeb: isWeb, codec: codec)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func answers() {
    for type in ["application/grpc", "application/grpc+proto", "application/grpc;x=y"] {
      #expect(code(type, isWeb: false, .proto) == nil)
      #expect(code(type, isWeb: true, .proto) == .unknown)
      #expect(code(type, isWeb: false, .json) == .internal)
    }
    #expect(code("application/grpc+foo", isWeb: false, nil) == nil)
    #expect(code("application/grpc+foo", isWeb: false, .proto) == .internal)
    #expect(code("application/grpc-web-text", isWeb: true, .proto) == nil)
    for type in ["text/html", "application/json", ""] {
      #expect(code(type, isWeb: false, .proto) == .unknown)
      #expect(code(type, isWeb: true, .proto) == .unknown)
    }
    #expect(code(nil, isWeb: false, .proto) == .unknown)
  }
}
