import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC

/// What must hold for any bytes that are read as a query: what is accepted is written as a query that means the same,
/// and that is written the same for ever.
package struct QueryCheck {
  /// Rules without variables over messages of the rich schema.
  package final class Rig {
    fileprivate let schema: Schema
    fileprivate let bindings: [RESTBinding]
    fileprivate let codec: JSONCodec
    fileprivate static let messages = [
      "rich.Node", "rich.Scalars", "rich.Lists", "rich.Known", "rich.Old", "rich.Strict", "rich.Maps",
    ]
    fileprivate let inputs: [Int]

    package init() throws {
      let schema = try RichSchema.load()
      let codec = JSONCodec(schema: schema, profile: .standard)
      inputs = Self.messages.compactMap { schema.messageIndex(named: $0) }
      bindings = try inputs.map { input in
        let rule = HTTPRule(method: "GET", path: "/q")
        let method = MethodType(
          name: "Ask", input: input, output: input, isClientStreaming: false, isServerStreaming: false,
          idempotency: .unknown, httpRule: rule)
        return try RESTBinding.compile(rule: rule, method: method, schema: schema, codec: codec)
      }
      self.schema = schema
      self.codec = codec
    }
  }

  package private(set) var isAccepted = false
  package private(set) var fault: String?

  /// - Parameter input: a byte that chooses the message (`A` and on), then the query without `?`.
  package init(_ rig: Rig, _ input: [UInt8]) {
    guard let first = input.first else { return }
    let index = Int(first &- UInt8(ascii: "A")) % rig.bindings.count
    let query = Array(input.dropFirst())
    // A separator in front says nothing, but has the values collected first instead of written as they come.
    let collected = Self.outcome(rig.bindings[index], [UInt8(ascii: "&")] + query)
    if Self.outcome(rig.bindings[index], query) != collected {
      fault = "\(text(query)): with an empty parameter \(collected)"
    }
    let wire: [UInt8]
    do throws(RPCError) { wire = try Self.read(rig.bindings[index], query) } catch {
      if error.code != .invalidArgument || error.message.isEmpty { fault = "\(text(query)): refused as \(error)" }
      return
    }
    isAccepted = true
    do {
      // A mask may hold a proto name that has no JSON.
      let json = (try? rig.codec.encoded(wire, rig.inputs[index])) ?? []
      let written = try Self.write(rig.bindings[index], wire)
      let again = try Self.read(rig.bindings[index], written)
      let secondJSON = (try? rig.codec.encoded(again, rig.inputs[index])) ?? []
      let second = try Self.write(rig.bindings[index], again)
      // No query says that a message is there but empty.
      if json != secondJSON, !text(json).contains(":{}") {
        fault = "\(text(query)) means \(text(json)), but is written as \(text(written)): \(text(secondJSON))"
      } else if written != second {
        fault = "\(text(query)) is written as \(text(written)), and that as \(text(second))"
      }
    } catch {
      fault = "\(text(query)) is accepted, but then: \(error)"
    }
  }

  /// The message's bytes, or the refusal, as text.
  private static func outcome(_ binding: RESTBinding, _ query: [UInt8]) -> String {
    do throws(RPCError) { return "\(try read(binding, query))" } catch { return "\(error)" }
  }

  private static func read(_ binding: RESTBinding, _ query: [UInt8]) throws(RPCError) -> [UInt8] {
    var wire = ByteBuffer()
    var unknown: [String] = []
    let path = Array("/q".utf8)
    let nothing: [UInt8] = []
    try binding.decodeRequest(
      path: path.span, captures: [], query: query.span, contentType: nil, body: nothing.span, unknown: &unknown,
      into: &wire)
    return wire.bytes
  }

  private static func write(_ binding: RESTBinding, _ wire: [UInt8]) throws(RPCError) -> [UInt8] {
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    try binding.encodeRequest(wire.span, target: &target, body: &body, contentType: &type)
    return Array(target.bytes.dropFirst("/q?".utf8.count))
  }
}
