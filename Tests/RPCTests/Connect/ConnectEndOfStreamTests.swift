import Bytes
import HTTPModel
import RPC
import Testing

@Suite("Connect's end of stream")
struct ConnectEndOfStreamTests {
  private func write(_ error: RPCError?, _ trailers: FieldBlock?) -> String {
    text { ConnectEndOfStream.write(error: error, trailers: trailers, into: &$0) }
  }

  private func read(_ json: String) -> (error: RPCError?, isMalformed: Bool, trailers: [String]) {
    let trailers = FieldBlock()
    let (error, isMalformed) = ConnectEndOfStream.read(bytes(json).span, trailers: trailers)
    return (error, isMalformed, lines(trailers))
  }

  @Test func success() {
    #expect(write(nil, nil) == "{}")
    #expect(write(nil, FieldBlock()) == "{}")
  }

  @Test func errorAndMetadata() {
    let trailers = block([("X-A", "1"), ("b", "say \"hi\""), ("x-a", "2"), ("gone", "")])
    trailers.remove(at: 3)
    #expect(write(nil, trailers) == #"{"metadata":{"x-a":["1","2"],"b":["say \"hi\""]}}"#)
    #expect(
      write(RPCError(.aborted, "no"), trailers)
        == #"{"error":{"code":"aborted","message":"no"},"metadata":{"x-a":["1","2"],"b":["say \"hi\""]}}"#)
    let again = read(write(RPCError(.aborted, "no"), trailers))
    #expect(again.error?.code == .aborted)
    #expect(again.error?.message == "no")
    #expect(!again.isMalformed)
    #expect(again.trailers == ["x-a: 1", "x-a: 2", "b: say \"hi\""])
  }

  @Test(arguments: ["{}", " { } \n", #"{"error":null}"#, #"{"metadata":null,"x":{"error":{"code":"aborted"}}}"#])
  func readsSuccess(json: String) {
    #expect(read(json).error == nil)
    #expect(!read(json).isMalformed)
  }

  @Test(arguments: [
    #"{"error":{"code":null,"message":"oops"}}"#, #"{"error":{"message":"oops"}}"#,
    #"{"error":{"code":"foobar","message":"oops"}}"#,
  ])
  func errorWithoutACode(json: String) {
    #expect(read(json).error?.code == .unknown)
    #expect(read(json).error?.message == "oops")
  }

  @Test func emptyErrorIsAnError() {
    #expect(read(#"{"error":{}}"#).error?.code == .unknown)
    #expect(read(#"{"error":{"code":"unauthenticated"}}"#).error?.code == .unauthenticated)
  }

  @Test(arguments: ["", "null", "[]", "{", #"{"error":"bad"}"#, #"{"error":[]}"#, "{}{}", #"{"metadata":{"a":["b"}}"#])
  func malformed(json: String) {
    let end = read(json)
    #expect(end.error?.code == .internal)
    #expect(end.isMalformed)
    #expect(end.trailers == [])
  }

  @Test func metadataIsFiltered() {
    let end = read(
      #"""
      {"metadata":{"ok":["1",2,null,"3"],"single":"x","bad name":["x"],"crlf":["a\r\nset-cookie: b"],
      "connect-x":["1"],"Set-Cookie":["a=b"],"content-length":["5"],"":["x"],"none":{},"empty":[""]}}
      """#)
    #expect(end.error == nil)
    #expect(end.trailers == ["ok: 1", "ok: 3", "single: x", "empty: "])
  }
}
