import Bytes
import Compression
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC
import Testing

@testable import Gateway

/// One direction of a relayed stream, fed at every split.
@Suite struct MessageFlowTests {
  /// A call of the streaming method, for what a flow asks it: the schema, the limits.
  private struct Stage {
    let call: Call
    let worker: Worker
    private let client: ExplainedClient

    init() throws {
      let snapshot = try #require(try Compiled(["stage: rpc"]).snapshot)
      let shared = GatewayShared(
        metrics: GatewayMetrics(shards: 1), log: GatewayLog(sink: try LogSink(.standardError), format: .text))
      worker = Worker(
        index: 0, loop: try EventLoop(name: "flow", mailbox: try Mailbox()), shared: shared, snapshot: snapshot)
      client = ExplainedClient()
      let head = RequestHead()
      head.method = .post
      head.target.append("/depot.v1.CrateService/Watch")
      head.pathEnd = head.target.count
      head.fields.append(.contentType, "application/connect+proto")
      call = worker.makeCall(client: client, head: head, options: ConnectionOptions(), framing: .chunked)
      #expect(call.route?.plan.isStreaming == true)
    }
  }

  private func envelope(_ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var buffer = ByteBuffer()
    EnvelopeHead(flags: flags, length: payload.count).write(into: &buffer)
    return buffer.bytes + payload
  }

  /// `{"id":"a","weight":7}` and an empty one, as protobuf.
  private var proto: [[UInt8]] { [[0x0A, 1, 0x61, 0x10, 7], []] }
  private var json: [[UInt8]] { [Array(#"{"id":"a","weight":7}"#.utf8), Array("{}".utf8)] }

  private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    var output = ByteBuffer()
    try Compressor.compress(bytes.span, as: .gzip, into: &output)
    return output.bytes
  }

  /// All that comes out of a flow that gets its input in these pieces.
  private func run(_ flow: MessageFlow, _ pieces: [ArraySlice<UInt8>], _ stage: Stage) throws -> [UInt8] {
    var result: [UInt8] = []
    func collect() {
      flow.send(stage.worker) { output, count in
        result += output.bytes.prefix(count)
        output.consume(count)
      }
    }
    func drain(_ step: () throws(RPCError) -> MessageFlow.Step) throws(RPCError) {
      while true {
        let next = try step()
        collect()
        if next == .moved { return }
      }
    }
    for piece in pieces {
      var buffer = ByteBuffer(piece)
      // As the relay does: what can go on as it is does so where it lies.
      let begun = Swift.min(buffer.count, flow.missingOfHead)
      if begun > 0 {
        try flow.append(&buffer, begun, stage.worker)
        try drain { () throws(RPCError) in try flow.advance(stage.call) }
      }
      let before = buffer.count
      let passed = try flow.pass(&buffer, buffer.count) { bytes, count in
        result += bytes.bytes.prefix(count)
        bytes.consume(count)
      }
      let rest = buffer.count
      #expect(rest == before - passed)
      try flow.append(&buffer, buffer.count, stage.worker)
      let left = buffer.count
      #expect(left == 0)
      try drain { () throws(RPCError) in try flow.advance(stage.call) }
      flow.rest(stage.worker)
    }
    try drain { () throws(RPCError) in try flow.finish(stage.call) }
    return result
  }

  /// Cut in two at every place, and byte by byte.
  private func atEverySplit(
    _ input: [UInt8], expecting expected: [UInt8], messages: Int = 2, _ make: () -> MessageFlow
  ) throws {
    let stage = try Stage()
    var ways: [[ArraySlice<UInt8>]] = (0...input.count).map { [input[..<$0], input[$0...]] }
    ways.append(input.indices.map { input[$0...$0] })
    for pieces in ways {
      let flow = make()
      #expect(try run(flow, pieces, stage) == expected, "cut at \(pieces[0].count)")
      #expect(flow.messages == messages && !flow.isInsideMessage)
      #expect(stage.call.reserved == 0)
    }
  }

  private func flow(
    _ source: MessageSource, _ sink: MessageSink.Form = .envelopes, _ codec: MessageCodec = .proto,
    _ direction: EnvelopeReader.Direction = .response, mayStay: Bool = true, repeats: Bool = true, limit: Int = 1000
  ) -> MessageFlow {
    MessageFlow(
      from: source, to: MessageSink(form: sink, codec: codec), direction, mayStay: mayStay, repeats: repeats,
      limit: limit)
  }

  @Test func unchanged() throws {
    let body = envelope(0, proto[0]) + envelope(0, proto[1])
    try atEverySplit(body, expecting: body) { flow(MessageSource(form: .envelopes(.grpc), codec: .proto)) }
  }

  @Test func whatIsGoodBeforeAFaultGoesOn() throws {
    let one = flow(MessageSource(form: .envelopes(.grpc), codec: .proto), limit: 5)
    var body = ByteBuffer(envelope(0, proto[0]) + envelope(0, [UInt8](repeating: 1, count: 6)))
    var sent: [UInt8] = []
    let error = #expect(throws: RPCError.self) {
      try one.pass(&body, body.count) { bytes, count in
        sent += bytes.bytes.prefix(count)
        bytes.consume(count)
      }
    }
    #expect(error?.code == .resourceExhausted)
    #expect(sent == envelope(0, proto[0]))
    #expect(!one.isInsideMessage)
  }

  @Test func withItsEnd() throws {
    let body = envelope(0, proto[0]) + envelope(0, proto[1])
    let end = Array("grpc-status: 0\r\n".utf8)
    try atEverySplit(body + envelope(0x80, end), expecting: body) {
      flow(MessageSource(form: .envelopes(.grpcWeb), codec: .proto))
    }
    let stage = try Stage()
    let one = flow(MessageSource(form: .envelopes(.grpcWeb), codec: .proto))
    _ = try run(one, [(body + envelope(0x80, end))[...]], stage)
    #expect(one.hasEnd && one.end.bytes == end)
  }

  @Test func compressedAsItIs() throws {
    let body = envelope(1, try gzip(proto[0])) + envelope(0, proto[1])
    try atEverySplit(body, expecting: body) {
      flow(MessageSource(form: .envelopes(.grpc), codec: .proto, coding: .gzip))
    }
  }

  @Test func decompressedForWhoDoesNotReadIt() throws {
    // An empty message is never decompressed.
    let body = envelope(1, try gzip(proto[0])) + envelope(1, [])
    try atEverySplit(body, expecting: envelope(0, proto[0]) + envelope(0, [])) {
      flow(MessageSource(form: .envelopes(.grpc), codec: .proto, coding: .gzip), mayStay: false)
    }
  }

  @Test func inAnotherCodec() throws {
    let body = envelope(0, proto[0]) + envelope(0, proto[1])
    let text = envelope(0, json[0]) + envelope(0, json[1])
    try atEverySplit(body, expecting: text) {
      flow(MessageSource(form: .envelopes(.grpc), codec: .proto), .envelopes, .json)
    }
    try atEverySplit(text, expecting: body) {
      flow(MessageSource(form: .envelopes(.grpc), codec: .json), .envelopes, .proto)
    }
  }

  @Test func fromText() throws {
    let body = envelope(0, proto[0]) + envelope(0, proto[1])
    var text = ByteBuffer()
    Base64.encode(Array(body[..<7]).span, into: &text)
    Base64.encode(Array(body[7...]).span, into: &text)
    try atEverySplit(text.bytes, expecting: body) {
      flow(MessageSource(form: .text(.grpcWeb), codec: .proto), .envelopes, .proto, .request)
    }
  }

  @Test func toText() throws {
    let body = envelope(0, proto[0]) + envelope(0, proto[1])
    let stage = try Stage()
    let output = try run(
      flow(MessageSource(form: .envelopes(.grpc), codec: .proto), .text), [body[..<8], body[8...]], stage)
    var decoder = GRPCWebText.Decoder(direction: .response)
    var decoded = ByteBuffer()
    // Each piece is padded by itself, so a reader has all that was sent.
    try decoder.decode(output.span, into: &decoded)
    #expect(decoded.bytes == body)
  }

  @Test func aSecondMessageWhereThereIsOne() throws {
    let body = envelope(0, proto[0]) + envelope(0, proto[1])
    let stage = try Stage()
    let one = flow(MessageSource(form: .envelopes(.grpc), codec: .proto), repeats: false)
    let error = #expect(throws: RPCError.self) { try run(one, [body[...]], stage) }
    #expect(error?.code == .unimplemented && !one.isInsideMessage)
  }

  @Test func nothingOfAMessageThatCannotBeWritten() throws {
    let stage = try Stage()
    // A field cut short.
    let one = flow(MessageSource(form: .envelopes(.grpc), codec: .proto), .envelopes, .json)
    var body = ByteBuffer(envelope(0, proto[0]) + envelope(0, [0x0A, 9, 0x61]))
    try one.append(&body, body.count, stage.worker)
    let error = #expect(throws: RPCError.self) { try one.advance(stage.call) }
    #expect(error?.code == .internal)
    #expect(one.output.bytes == envelope(0, json[0]))
    #expect(stage.call.reserved == 0)
  }

  @Test func anAnnouncedMessageTakesNothingFromOthersBeforeItComes() throws {
    let stage = try Stage()
    let one = flow(MessageSource(form: .envelopes(.grpc), codec: .proto), .envelopes, .json)
    var body = ByteBuffer(envelope(0, [UInt8](repeating: 0, count: 900))[..<15])
    try one.append(&body, body.count, stage.worker)
    _ = try one.advance(stage.call)
    #expect(stage.call.reserved == 10)
  }

  @Test func smallInputDoesNotBecomeMuchOutput() throws {
    let stage = try Stage()
    let bomb = envelope(1, try gzip([0x0A, 0x80, 0x80, 0x02] + Array(repeating: 0x61, count: 32 << 10)))
    let one = flow(
      MessageSource(form: .envelopes(.grpc), codec: .proto, coding: .gzip), mayStay: false, limit: 1 << 20)
    var body = ByteBuffer()
    for _ in 0..<100 { body.append(bomb) }
    try one.append(&body, body.count, stage.worker)
    var rounds = 0
    while try one.advance(stage.call) == .full {
      #expect(one.output.count < 128 << 10)
      one.send(stage.worker) { output, count in output.consume(count) }
      rounds += 1
    }
    #expect(rounds > 20 && one.messages == 100)
  }
}
