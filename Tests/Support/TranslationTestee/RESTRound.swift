import Bytes
import HTTPModel
import ProtoJSON
import ProtobufSchema
import REST
import RPC

/// A message becomes the request to a REST backend, and that request a message again, by one rule.
///
/// The answer is the length of the request's text as a little-endian 32-bit number, that text, and the wire bytes.
struct RESTRound {
  private let binding: RESTBinding
  private let method: HTTPMethod
  private let trie: RouteTrie

  init(_ rule: HTTPRule, schema: Schema, codec: JSONCodec, message: Int) throws(BindingError) {
    let type = MethodType(
      name: "Call", input: message, output: message, isClientStreaming: false, isServerStreaming: false,
      idempotency: .unknown, httpRule: rule)
    binding = try RESTBinding.compile(rule: rule, method: type, schema: schema, codec: codec)
    method = HTTPMethod(rule.method)
    var builder = RouteTrieBuilder()
    _ = builder.insert(method: rule.method, template: binding.template, target: 0)
    trie = builder.build()
  }

  func answer(_ wire: [UInt8]) -> Testee.Answer {
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    do throws(RPCError) {
      try binding.encodeRequest(wire.span, target: &target, body: &body, contentType: &type)
    } catch { return Testee.refused(error.message) }
    let text = "\(method.name) \(String(repairing: target.span)) [\(type ?? "")] \(String(repairing: body.span))"
    let parts = target.bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1).map(Array.init)
    let path = parts.first ?? []
    let query = parts.count > 1 ? parts[1] : []
    var captures: [Range<Int>] = []
    let outcome = trie.match(method: method, path: path.span, captures: &captures)
    guard outcome == .matched(target: 0) else { return Testee.fault("\(text): its own rule does not match it") }
    var again = ByteBuffer()
    do throws(RPCError) {
      try decode(path, captures, query, type.map { Array($0.utf8) }, body.span, into: &again)
    } catch { return Testee.fault("\(text): refused: \(error.message) \(error.details)") }
    let shown = Array(text.utf8)
    let length = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: shown.count >> $0) }
    return (.done, length + shown + again.bytes)
  }

  private func decode(
    _ path: [UInt8], _ captures: [Range<Int>], _ query: [UInt8], _ type: [UInt8]?, _ body: Span<UInt8>,
    into wire: inout ByteBuffer
  ) throws(RPCError) {
    var unknown: [String] = []
    if let type {
      try binding.decodeRequest(
        path: path.span, captures: captures, query: query.span, contentType: type.span, body: body,
        unknown: &unknown, into: &wire)
    } else {
      try binding.decodeRequest(
        path: path.span, captures: captures, query: query.span, contentType: nil, body: body, unknown: &unknown,
        into: &wire)
    }
    guard unknown.isEmpty else { throw RPCError(.internal, "unknown fields \(unknown)") }
  }
}
