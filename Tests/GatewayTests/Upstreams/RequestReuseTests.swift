import Bytes
import Compression
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC
import Testing

@testable import Gateway

/// What a loop keeps of one call for the next: nothing of the first may be seen in the second.
@Suite struct RequestReuseTests {
  private static func worker() throws -> Worker {
    let snapshot = try #require(try Compiled([]).snapshot)
    let shared = GatewayShared(
      metrics: GatewayMetrics(shards: 1), log: GatewayLog(sink: try LogSink(.standardError), format: .text))
    return Worker(
      index: 0, loop: try EventLoop(name: "reuse", mailbox: try Mailbox()), shared: shared, snapshot: snapshot)
  }

  private static func fill(_ request: UpstreamRequest) {
    request.method = .post
    request.target.append("/a")
    request.authority.append("a.example")
    request.fields.append(.authorization, "secret" as StaticString)
    request.framing = .chunked
    request.body = Payload()
    request.upgrades = true
    request.isIdempotent = true
    request.isStream = true
    request.streamsMessages = true
  }

  private static func isAsNew(_ request: UpstreamRequest) -> Bool {
    request.method == .get && request.target.isEmpty && request.authority.isEmpty && request.fields.indices.isEmpty
      && request.passing == nil && request.framing == .none && request.body == nil && request.envelope == nil
      && !request.upgrades && !request.isIdempotent && !request.isStream && !request.streamsMessages
  }

  @Test func aRequestComesBackAsNew() throws {
    let worker = try Self.worker()
    let first = worker.takeRequest()
    #expect(first.lender === worker)
    Self.fill(first)
    worker.give(first)
    #expect(first.lender == nil)
    let second = worker.takeRequest()
    #expect(second === first && Self.isAsNew(second))
    #expect(worker.takeRequest() !== second)
  }

  /// A request that passes has its caller's fields, which stay as they are.
  @Test func theFieldsOfACallerAreLetGo() throws {
    let worker = try Self.worker()
    let fields = FieldBlock()
    fields.append("x-one", "1")
    let request = worker.takeRequest()
    request.passing = fields
    #expect(request.fields === fields)
    worker.give(request)
    let next = worker.takeRequest()
    #expect(next === request && next.fields !== fields && Self.isAsNew(next))
    #expect(fields.count == 1)
  }

  @Test func whatSomebodyReadsIsNotUsedAgain() throws {
    let worker = try Self.worker()
    let request = worker.takeRequest()
    Self.fill(request)
    let fields = request.fields
    worker.give(request)
    #expect(worker.takeRequest() !== request)
    #expect(fields.text(of: .authorization) == "secret")
  }

  @Test func whatIsLargeIsNotKept() throws {
    let worker = try Self.worker()
    let request = worker.takeRequest()
    request.target.append([UInt8](repeating: 0x61, count: 8 << 10))
    worker.give(request)
    #expect(worker.takeRequest() !== request)
  }

  @Test func aPayloadComesBackAsNewUnlessSomebodyHasIt() throws {
    let worker = try Self.worker()
    var payload: Payload? = worker.takePayload()
    payload?.buffer.append("{}")
    payload?.codec = .json
    payload?.coding = .gzip
    let shared = payload
    worker.give(&payload)
    #expect(payload != nil && shared?.buffer.bytes == Array("{}".utf8) && shared?.codec == .json)
    #expect(worker.takePayload() !== shared)

    var alone: Payload? = worker.takePayload()
    alone?.borrow(from: worker.loop.buffers, for: 100)
    alone?.buffer.append("{}")
    alone?.codec = .json
    alone?.coding = .gzip
    worker.give(&alone)
    #expect(alone == nil)
    let next = worker.takePayload()
    #expect(next.buffer.isEmpty && next.codec == .proto && next.coding == .identity)
  }

  /// Each call has its own, however many run at once.
  @Test func capturesAreHandedOver() throws {
    let snapshot = try #require(try Compiled([]).snapshot)
    let router = Router()
    func captures(_ path: String) throws -> [Range<Int>] {
      let head = RequestHead()
      head.target.append(text: path)
      head.pathEnd = head.target.count
      guard case .rest = router.route(head, in: snapshot) else { throw Fault.noRoute }
      return router.takeCaptures()
    }
    func memory(_ captures: [Range<Int>]) -> Int {
      captures.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
    }
    var first = try captures("/v1/crates/7")
    let memoryOfFirst = memory(first)
    let second = try captures("/v1/crates/70")
    #expect(first == [11..<12] && second == [11..<13])
    router.give(&first)
    #expect(first.isEmpty)
    let third = try captures("/v1/crates/700")
    #expect(third == [11..<14] && second == [11..<13])
    let fourth = try captures("/v1/crates/7000")
    #expect(fourth == [11..<15] && memory(fourth) == memoryOfFirst, "used again")
    #expect(router.takeCaptures().isEmpty)
  }

  private enum Fault: Error { case noRoute }
}
