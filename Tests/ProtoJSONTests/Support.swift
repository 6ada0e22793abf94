import Bytes
import ProtobufSchema
import Testing

@testable import ProtoJSON

/// A codec over the fixture's schema, with strings in and out.
struct Bench {
  let codec: JSONCodec

  init(_ profile: JSONProfile = .standard, maximumDepth: Int = 100) {
    codec = JSONCodec(schema: Fixture.schema, profile: profile, maximumDepth: maximumDepth)
  }

  init(codec: JSONCodec) {
    self.codec = codec
  }

  static let standard = Bench()

  func index(_ message: String) throws -> Int {
    try #require(codec.schema.messageIndex(named: message), "no message \(message)")
  }

  func field(_ message: String, _ name: String) throws -> Int {
    try #require(codec.schema.messages[try index(message)].fieldIndex(named: name), "no field \(name)")
  }

  func decode(_ json: some Collection<UInt8>, _ message: String) throws -> [UInt8] {
    var outcome = DecodingOutcome()
    return try decode(json, message, outcome: &outcome)
  }

  func decode(_ json: String, _ message: String) throws -> [UInt8] { try decode(Array(json.utf8), message) }

  func decode(
    _ json: some Collection<UInt8>, _ message: String, bound: [BoundField] = [], outcome: inout DecodingOutcome
  ) throws -> [UInt8] {
    var output = ByteBuffer()
    try codec.decode(
      Array(json).span, message: try index(message), bound: bound, outcome: &outcome, into: &output)
    return output.bytes
  }

  func encode(_ wire: [UInt8], _ message: String, omitting: [[Int]] = []) throws -> String {
    var output = ByteBuffer()
    try codec.encode(wire.span, message: try index(message), omitting: omitting, into: &output)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  /// JSON to wire bytes to JSON.
  func normalize(_ json: String, _ message: String) throws -> String {
    try encode(try decode(json, message), message)
  }

  /// The error of a refused JSON; the test fails when it is accepted.
  func refusal(_ json: some Collection<UInt8>, _ message: String) throws -> JSONError {
    do {
      let wire = try decode(json, message)
      Issue.record("accepted: \(String(decoding: Array(json), as: UTF8.self)) as \(wire)")
      return JSONError(path: "accepted", offset: -1, reason: "accepted", kind: .syntax)
    } catch let error as JSONError {
      return error
    }
  }

  func refusal(_ json: String, _ message: String) throws -> JSONError { try refusal(Array(json.utf8), message) }

  func encodingError(_ wire: [UInt8], _ message: String) throws -> JSONError {
    do {
      let json = try encode(wire, message)
      Issue.record("accepted: \(wire) as \(json)")
      return JSONError(path: "accepted", offset: -1, reason: "accepted", kind: .syntax)
    } catch let error as JSONError {
      return error
    }
  }
}
