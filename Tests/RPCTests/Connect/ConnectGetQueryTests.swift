import Bytes
import RPC
import Testing

@Suite("The query of a Connect GET")
struct ConnectGetQueryTests {
  private struct Parsed: Equatable {
    var query: ConnectGetQuery
    var message: [UInt8]
  }

  private func parse(_ query: String) throws(RPCError) -> Parsed {
    var message = ByteBuffer()
    let parsed = try ConnectGetQuery.parse(bytes(query).span, message: &message)
    return Parsed(query: parsed, message: message.bytes)
  }

  private func code(_ query: String) -> Code? { refusal { () throws(RPCError) in try parse(query) }?.code }

  @Test func whatPhonesSend() throws {
    let parsed = try parse("connect=v1&base64=1&compression=gzip&encoding=proto&message=-_8")
    #expect(parsed == Parsed(query: ConnectGetQuery(codec: .proto, compression: "gzip"), message: [0xFB, 0xFF]))
  }

  @Test func anyOrderUnknownIgnored() throws {
    let parsed = try parse("utm=%zz&message=%7B%22a%22%3A%22x+y%2Bz%22%7D&&x&encoding=json&=&connect=v1")
    #expect(parsed.query == ConnectGetQuery(codec: .json))
    #expect(parsed.message == bytes(#"{"a":"x y+z"}"#))
  }

  @Test func namesMayBeEscaped() throws {
    #expect(try parse("%65ncoding=json&m%65ssage=%7B%7D").message == bytes("{}"))
  }

  @Test(arguments: ["+/+/", "%2B%2F%2B%2F", "-_-_", "%2D_-_"])
  func bothAlphabetsAndBlanks(payload: String) throws {
    #expect(try parse("encoding=proto&base64=1&message=\(payload)").message == [0xFB, 0xFF, 0xBF])
  }

  @Test(arguments: ["AQ", "AQ==", "AQ%3D%3D", "AQ%3d="])
  func paddingIsOptional(payload: String) throws {
    #expect(try parse("message=\(payload)&base64=1&encoding=proto").message == [1])
  }

  @Test func otherBase64ValuesMeanText() throws {
    #expect(try parse("encoding=json&base64=true&message=AQ").message == bytes("AQ"))
    #expect(try parse("encoding=json&base64=&message=AQ").message == bytes("AQ"))
  }

  @Test func emptyMessageIsAMessage() throws {
    #expect(try parse("encoding=proto&message=").message == [])
    #expect(try parse("encoding=proto&base64=1&compression=gzip&message").message == [])
  }

  @Test func identityIsNoCompression() throws {
    #expect(try parse("encoding=json&message=&compression=identity").query.compression == "")
    #expect(try parse("encoding=json&message=&compression=").query.compression == "")
  }

  @Test func encodingAbsentOrUnknown() {
    for query in [
      "", "message=", "connect=v1&message=", "encoding=xml&message=", "encoding=&message=", "encoding=JSON",
    ] {
      let error = refusal { () throws(RPCError) in try parse(query) }
      #expect(error?.httpStatus == 415)
      #expect(error?.headers.map(\.name) == ["accept-post"])
    }
  }

  @Test func invalidArguments() {
    #expect(code("connect=v1&encoding=json") == .invalidArgument)
    #expect(code("connect=v2&encoding=json&message=") == .invalidArgument)
    #expect(code("connect=&encoding=json&message=") == .invalidArgument)
    #expect(code("encoding=json&message=%7") == .invalidArgument)
    #expect(code("encoding=json&message=%zz") == .invalidArgument)
    #expect(code("encoding=proto&base64=1&message=A") == .invalidArgument)
    #expect(code("encoding=proto&base64=1&message=*") == .invalidArgument)
  }

  @Test(arguments: ["connect=v1", "base64=1", "compression=gzip", "encoding=json", "message=x"])
  func givenTwice(parameter: String) {
    #expect(code("connect=v1&base64=1&compression=gzip&encoding=json&message=&\(parameter)") == .invalidArgument)
  }

  @Test func brokenBase64LeavesTheBufferAlone() {
    var message = ByteBuffer(bytes("kept"))
    var isRefused = false
    do throws(RPCError) {
      _ = try ConnectGetQuery.parse(bytes("encoding=proto&base64=1&message=AQIDBAUG*").span, message: &message)
    } catch { isRefused = true }
    let left = message.bytes
    #expect(isRefused)
    #expect(left == bytes("kept"))
  }

  @Test func writtenInTheProtocolsOrder() {
    let proto = text {
      ConnectGetQuery.write(message: [0xFB, 0xFF, 1, 2].span, codec: .proto, compression: "", into: &$0)
    }
    #expect(proto == "?connect=v1&base64=1&encoding=proto&message=-_8BAg")
    let compressed = text {
      ConnectGetQuery.write(message: [0x1F].span, codec: .json, compression: "gzip", into: &$0)
    }
    #expect(compressed == "?connect=v1&base64=1&compression=gzip&encoding=json&message=Hw")
    let json = text {
      ConnectGetQuery.write(message: bytes(#"{"a": "ü+&"}"#).span, codec: .json, compression: "", into: &$0)
    }
    #expect(json == "?connect=v1&encoding=json&message=%7B%22a%22%3A%20%22%C3%BC%2B%26%22%7D")
  }

  @Test(arguments: [MessageCodec.proto, .json], ["", "gzip", "br"])
  func roundTrip(codec: MessageCodec, compression: String) throws {
    let message = (0...255).map { UInt8($0) }
    let query = text { ConnectGetQuery.write(message: message.span, codec: codec, compression: compression, into: &$0) }
    let parsed = try parse(String(query.dropFirst()))
    #expect(parsed == Parsed(query: ConnectGetQuery(codec: codec, compression: compression), message: message))
  }
}
