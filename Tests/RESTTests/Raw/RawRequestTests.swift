import Bytes
import HTTPModel
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Raw requests as they come")
struct RawRequestTests {
  func wires(_ fixture: Fixture, _ target: String, _ type: String, _ data: [UInt8]) throws -> (
    gathered: String, begun: String
  ) {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map { Array($0.utf8) }
    let path = parts[0]
    var builder = RouteTrieBuilder()
    _ = builder.insert(method: "*", template: fixture.binding.template, target: 0)
    var captures: [Range<Int>] = []
    _ = builder.build().match(method: .get, path: path.span, captures: &captures)
    var unknown: [String] = []
    var gathered = ByteBuffer()
    try fixture.receive(target, data, type, &unknown, into: &gathered)
    var begun = ByteBuffer()
    let query = parts.count > 1 ? parts[1] : []
    let media = Array(type.utf8)
    try fixture.binding.beginRawRequest(
      path: path.span, captures: captures, query: query.span, contentType: media.span, length: data.count,
      into: &begun)
    begun.append(data)
    return (try fixture.json(gathered.span, fixture.input), try fixture.json(begun.span, fixture.input))
  }

  @Test("the beginning and the bytes are the message", arguments: [1, 127, 128, 16_000, 70_000])
  func beginnings(size: Int) throws {
    let data = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let scan = try Fixture("p.ScanReq", HTTPRule(method: "PUT", path: "/v1/{id}/scan", body: "scan"))
    let whole = try Fixture("google.api.HttpBody", HTTPRule(method: "POST", path: "/v1/up", body: "*"))
    #expect(scan.binding.readsRaw && whole.binding.readsRaw)
    for type in ["image/png", ""] {
      var (gathered, begun) = try wires(scan, "/v1/p/scan", type, data)
      #expect(gathered == begun)
      (gathered, begun) = try wires(whole, "/v1/up", type, data)
      #expect(gathered == begun)
    }
  }

  @Test("what the request says wrongly is refused before the first byte")
  func refused() throws {
    let scan = try Fixture("p.ScanReq", HTTPRule(method: "PUT", path: "/v1/{id}/scan", body: "scan"))
    var wire = ByteBuffer()
    let path = Array("/v1/p/scan".utf8)
    for query in ["note=n", "colour=red", "scan.data=x"] {
      let text = Array(query.utf8)
      let error = #expect(throws: RPCError.self) {
        try scan.binding.beginRawRequest(
          path: path.span, captures: [4..<5], query: text.span, contentType: nil, length: 9, into: &wire)
      }
      #expect(error?.code == .invalidArgument)
    }
    let message = try Fixture("p.CancelReq", HTTPRule(method: "POST", path: "/v1/{id}", body: "*"))
    #expect(!message.binding.readsRaw)
  }
}
