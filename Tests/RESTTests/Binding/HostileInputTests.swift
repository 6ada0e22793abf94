import Bytes
import HTTPModel
import ProtoJSON
import ProtobufSchema
import RPC
import RandomnessTestSupport
import Testing

@testable import REST

/// Bytes from outside, changed at random: whatever comes in, a value or an error comes out.
@Suite("Hostile input")
struct HostileInputTests {
  /// One to three changes: a byte replaced, removed, or a run copied.
  private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...3, using: &generator) where !result.isEmpty {
      let index = Int.random(in: 0..<result.count, using: &generator)
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: result[index] = UInt8.random(in: 0...255, using: &generator)
      case 1: result.remove(at: index)
      default: result += result[index...].prefix(20)
      }
    }
    return result
  }

  @Test("paths: a match's captures lie inside the path, and the template matches them again")
  func paths() throws {
    let trie = try trie(["GET /v1/{a}/x/{b=**}:v", "GET /v1/{c=y/*}/z", "POST /v1/{d}", "GET /%41/**"])
    var generator = SeededGenerator(seed: 1)
    var captures: [Range<Int>] = []
    var scratch = ByteBuffer()
    var forms = PathScratch()
    var matches = 0
    for seed in ["/v1/q/x/r/s:v", "/v1/y/p/z", "/v1/d", "/A/b%2Fc/d"].map({ Array($0.utf8) }) {
      for _ in 0..<3_000 {
        let path = mutated(seed, &generator)
        if case .matched = trie.match(method: .get, path: path.span, captures: &captures) {
          matches += 1
          #expect(captures.allSatisfy { $0.upperBound <= path.count })
        }
        _ = PathVariants.anyForm(of: path.span, scratch: &forms) { trie.describes($0) }
        // A second pass never makes a path longer.
        _ = PathNormalizer.write(path.span, .keepingSlashes, into: &scratch)
        var again = ByteBuffer()
        let once = scratch.bytes
        _ = PathNormalizer.write(once.span, .keepingSlashes, into: &again)
        #expect(again.count <= once.count)
      }
    }
    #expect(matches > 100)
  }

  @Test("queries and bodies")
  func requests() throws {
    let list = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/x"))
    let create = try Fixture("p.UpdateReq", HTTPRule(method: "PATCH", path: "/v1/{parcel.id}", body: "parcel"))
    let query = Array("tag=a&to.geo.lat=1&f%5Bx%5D=q&since=2026-01-01T00:00:00Z&card=x&nums=1&mask=a,b&seal=__8".utf8)
    let body = Array(#"{"trackingNo":"t","to":{"geo":{"lat":1}},"tags":["a"],"labels":{"a":"b"},"size":"SIZE_L"}"#.utf8)
    var generator = SeededGenerator(seed: 2)
    var accepted = 0
    for _ in 0..<4_000 {
      var wire = ByteBuffer()
      var unknown: [String] = []
      let changed = mutated(query, &generator)
      do throws(RPCError) {
        try list.binding.decodeRequest(
          path: [0x2F].span, captures: [], query: changed.span, contentType: nil, body: Span(), unknown: &unknown,
          into: &wire)
        accepted += 1
        _ = list.send(wire: wire.bytes)
      } catch {
        #expect(error.code == .invalidArgument)
      }
      do throws(RPCError) {
        var second = ByteBuffer()
        try create.receive("/v1/p", mutated(body, &generator), nil, &unknown, into: &second)
        accepted += 1
        _ = create.send(wire: second.bytes)
      } catch {
        #expect(error.code == .invalidArgument)
      }
    }
    #expect(accepted > 80)
  }

  @Test("captures that belong to another template are an error, not a trap")
  func foreignCaptures() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    for captures in [[], [5..<9]] as [[Range<Int>]] {
      var wire = ByteBuffer()
      var unknown: [String] = []
      let error = #expect(throws: RPCError.self) {
        try fixture.binding.decodeRequest(
          path: ([0x2F, 0x61] as [UInt8]).span, captures: captures, query: Span(), contentType: nil, body: Span(),
          unknown: &unknown, into: &wire)
      }
      #expect(error?.code == .internal)
    }
  }

  @Test("messages from an RPC caller, answers and errors from a REST backend")
  func upstream() throws {
    let list = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{note}/{to.city}"))
    let get = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    let wire = try list.wire(
      #"{"note":"n","to":{"city":"c","geo":{"lat":1}},"nums":[1,300],"tag":["abc"],"cash":1,"floor":3}"#, "p.ListReq")
    let answer = Array(#"{"m":["\\",{"a":"\""}],"data":{"id":"p","tags":["a"]},"x":true}"#.utf8)
    let failure = Array(
      #"{"error":{"code":404,"message":"é\u00e9","status":"NOT_FOUND","details":[{"@type":"a/b","value":"AQ"}]}}"#.utf8)
    var generator = SeededGenerator(seed: 3)
    var sent = 0
    for _ in 0..<3_000 {
      if list.send(wire: mutated(wire, &generator)).hasPrefix("/v1/") { sent += 1 }
      let changed = mutated(answer, &generator)
      var output = ByteBuffer()
      var unknown: [String] = []
      do throws(RPCError) {
        try get.binding.decodeResponse(
          status: 200, contentType: nil, body: changed.span, envelope: "data", unknown: &unknown, into: &output)
      } catch {
        #expect(error.code == .internal)
      }
      let broken = mutated(failure, &generator)
      let error = RESTErrors.read(status: 404, contentType: nil, body: broken.span, codec: get.codec)
      #expect(error.details.count <= 1)
    }
    #expect(sent > 100)
  }
}
