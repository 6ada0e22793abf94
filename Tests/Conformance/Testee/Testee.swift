import Bytes
import Diagnostics
import ProtoJSON
import ProtobufSchema

/// Answers requests of the conformance runner with the codec of the gateway.
struct Testee {
  struct Unusable: Error {
    var reason: String
  }

  private let schema: Schema
  private let strict: JSONCodec
  private let lenient: JSONCodec

  /// - Parameter descriptorSet: a serialized FileDescriptorSet with the test messages.
  init(descriptorSet: [UInt8], path: String) throws(Unusable) {
    let position = SourcePosition(file: path, line: 1, column: 1)
    let (schema, diagnostics) = SchemaLoader.load([
      .descriptorSet(path: path, bytes: descriptorSet, position: position)
    ])
    guard let schema else { throw Unusable(reason: diagnostics.map(\.description).joined(separator: "\n")) }
    self.schema = schema
    strict = JSONCodec(schema: schema, profile: .standard)
    lenient = JSONCodec(schema: schema, profile: JSONProfile(unknownFields: .ignore))
  }

  func answer(_ request: ConformanceRequest) -> ConformanceResponse {
    guard let message = schema.messageIndex(named: request.messageType) else {
      return .runtimeError("the descriptor set has no message \(request.messageType)")
    }
    guard let format = request.format else { return .runtimeError("no output format is requested") }
    guard format == .protobuf || format == .json else { return .skipped("the output format is not spoken") }
    let codec = request.ignoresUnknown ? lenient : strict
    var wire = ByteBuffer()
    switch request.payload {
    case .protobuf(let payload):
      let checked = refusal { () throws(JSONError) in
        var outcome = DecodingOutcome()
        var same = ByteBuffer()
        try codec.check(payload.span, message: message, outcome: &outcome, into: &same)
      }
      let normalized = refusal { () throws(JSONError) in
        try codec.normalize(payload.span, message: message, into: &wire)
      }
      guard (checked == nil) == (normalized == nil) else {
        return .runtimeError("check says \(checked ?? "yes"), normalize says \(normalized ?? "yes")")
      }
      if let normalized { return .parseError(normalized) }
      // JSON is written of the bytes as they came, as the gateway does.
      if format == .json { return json(payload.span, message, codec) }
    case .json(let payload):
      var outcome = DecodingOutcome()
      do throws(JSONError) {
        try codec.decode(payload.span, message: message, outcome: &outcome, into: &wire)
      } catch {
        return .parseError(error.message)
      }
    case .other(let name): return .skipped("\(name) is not spoken")
    case nil: return .runtimeError("the request has no payload")
    }
    return format == .protobuf ? .protobuf(wire.bytes) : json(wire.span, message, codec)
  }

  /// Why something is refused; nil when it is not.
  private func refusal(_ body: () throws(JSONError) -> Void) -> String? {
    do throws(JSONError) {
      try body()
      return nil
    } catch {
      return error.message
    }
  }

  private func json(_ wire: Span<UInt8>, _ message: Int, _ codec: JSONCodec) -> ConformanceResponse {
    var output = ByteBuffer()
    do throws(JSONError) {
      try codec.encode(wire, message: message, into: &output)
    } catch {
      return .serializeError(error.message)
    }
    return .json(output.bytes)
  }
}
