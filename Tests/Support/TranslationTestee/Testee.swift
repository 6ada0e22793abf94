import Bytes
import Diagnostics
import ProtoJSON
import ProtobufSchema
import REST

/// What the pipe may ask for.
///
/// - `S`: a FileDescriptorSet becomes the schema.
/// - `P`: words that make the profile, as the configuration spells them: `emit_defaults proto_names int64_number …`.
/// - `M`: the message that follows is of this type.
/// - `J`: JSON to wire bytes; `W`: wire bytes to JSON.
/// - `H`: an HTTP rule over the message: method, path and body on a line each.
/// - `R`: wire bytes through that rule to a REST request and back; see ``RESTRound``.
struct Testee {
  enum Status: UInt8 {
    case done = 0
    case refused = 1
    /// What never may happen.
    case fault = 2
  }

  typealias Answer = (status: Status, content: [UInt8])

  private var schema = Schema(messages: [], enums: [], services: [])
  private var codec: JSONCodec
  private var message = -1
  private var round: RESTRound?

  init() {
    codec = JSONCodec(schema: schema, profile: .standard)
  }

  mutating func answer(_ kind: Character, _ content: [UInt8]) -> Answer {
    switch kind {
    case "S": load(content)
    case "P": choose(profile: String(decoding: content, as: UTF8.self))
    case "M": choose(message: String(decoding: content, as: UTF8.self))
    case "J": decode(content)
    case "W": encode(content)
    case "H": choose(rule: String(decoding: content, as: UTF8.self))
    case "R": round?.answer(content) ?? Self.fault("there is no rule yet")
    default: Self.fault("\(kind) is no request")
    }
  }

  static func refused(_ reason: String) -> Answer { (.refused, Array(reason.utf8)) }
  static func fault(_ reason: String) -> Answer { (.fault, Array(reason.utf8)) }

  private mutating func load(_ set: [UInt8]) -> Answer {
    let place = SourcePosition(file: "pipe", line: 1, column: 1)
    let (schema, diagnostics) = SchemaLoader.load([.descriptorSet(path: "pipe", bytes: set, position: place)])
    guard let schema else { return Self.refused(diagnostics.map { "\($0)" }.joined(separator: "\n")) }
    self.schema = schema
    codec = JSONCodec(schema: schema, profile: .standard)
    message = -1
    round = nil
    return (.done, [])
  }

  private mutating func choose(profile words: String) -> Answer {
    var profile = JSONProfile.standard
    for word in words.split(separator: " ") {
      switch word {
      case "emit_defaults": profile.emitDefaults = true
      case "proto_names": profile.protoFieldNames = true
      case "int64_number": profile.int64AsNumber = true
      case "enum_number": profile.enumsAsNumbers = true
      case "unset_null": profile.unsetAsNull = true
      case "ignore_unknown": profile.unknownFields = .ignore
      default: return Self.fault("\(word) is nothing of a profile")
      }
    }
    codec = JSONCodec(schema: schema, profile: profile)
    round = nil
    return (.done, [])
  }

  private mutating func choose(message name: String) -> Answer {
    guard let index = schema.messageIndex(named: name) else { return Self.refused("\(name) is not in the schema") }
    message = index
    round = nil
    return (.done, [])
  }

  private func decode(_ json: [UInt8]) -> Answer {
    var wire = ByteBuffer()
    var outcome = DecodingOutcome()
    do throws(JSONError) {
      try codec.decode(json.span, message: message, outcome: &outcome, into: &wire)
    } catch { return Self.refused(error.message) }
    return (.done, wire.bytes)
  }

  private func encode(_ wire: [UInt8]) -> Answer {
    var json = ByteBuffer()
    do throws(JSONError) {
      try codec.encode(wire.span, message: message, into: &json)
    } catch { return Self.refused(error.message) }
    return (.done, json.bytes)
  }

  private mutating func choose(rule text: String) -> Answer {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count == 3 else { return Self.fault("method, path and body expected") }
    let rule = HTTPRule(method: lines[0], path: lines[1], body: lines[2].isEmpty ? nil : lines[2])
    do {
      round = try RESTRound(rule, schema: schema, codec: codec, message: message)
    } catch {
      round = nil
      return Self.refused(error.message)
    }
    return (.done, [])
  }
}
