import Bytes
package import ProtoJSON
import ProtobufSchema

/// Codecs of the rich schema, one per profile, with limits so low that short inputs reach them.
///
/// An input begins with a byte that chooses the message and one that chooses the profile; the rest is the document.
/// Printable bytes are enough, so that inputs can be read and written by hand: `A@{"name":"x"}`.
package final class CodecRig {
  package static let maximumDepth = 16
  package static let maximumOutput = 1 << 16

  private let schema: Schema
  private var codecs: [UInt8: JSONCodec] = [:]
  private var readers: [UInt8: JSONCodec] = [:]

  package init() throws(RichSchema.Fault) {
    schema = try RichSchema.load()
  }

  /// One input taken apart.
  package struct Job {
    package let codec: JSONCodec
    /// The same without limits: lists and maps are levels of JSON, but not of messages.
    package let reader: JSONCodec
    /// Of plain ProtoJSON.
    package let plain: JSONCodec
    package let message: Int
    package let content: [UInt8]
  }

  /// Nil for an input that is too short.
  package func job(_ input: [UInt8]) -> Job? {
    guard input.count >= 2 else { return nil }
    let names = RichSchema.messages
    let name = names[Int(input[0] &- UInt8(ascii: "A")) % names.count]
    guard let message = schema.messageIndex(named: name) else { return nil }
    return Job(
      codec: codec(input[1] & 0x3F), reader: reader(input[1] & 0x3F), plain: codec(0), message: message,
      content: Array(input.dropFirst(2)))
  }

  private func reader(_ bits: UInt8) -> JSONCodec {
    if let known = readers[bits] { return known }
    let reader = JSONCodec(schema: schema, profile: codec(bits).profile)
    readers[bits] = reader
    return reader
  }

  /// `@` is plain ProtoJSON.
  private func codec(_ bits: UInt8) -> JSONCodec {
    if let known = codecs[bits] { return known }
    let profile = JSONProfile(
      emitDefaults: bits & 1 != 0, protoFieldNames: bits & 2 != 0, int64AsNumber: bits & 4 != 0,
      enumsAsNumbers: bits & 8 != 0, stripEnumPrefix: bits & 16 != 0, unsetAsNull: bits & 32 != 0,
      timestamps: bits & 12 == 12 ? .unixMilliseconds : bits & 4 != 0 ? .unix : .rfc3339,
      unknownFields: bits & 2 != 0 ? .ignore : .reject)
    let codec = JSONCodec(
      schema: schema, profile: profile, maximumDepth: Self.maximumDepth, maximumOutput: Self.maximumOutput)
    codecs[bits] = codec
    return codec
  }
}

extension JSONCodec {
  package func decoded(_ json: [UInt8], _ message: Int) throws(JSONError) -> [UInt8] {
    var outcome = DecodingOutcome()
    var output = ByteBuffer()
    try decode(json.span, message: message, outcome: &outcome, into: &output)
    return output.bytes
  }

  package func encoded(_ wire: [UInt8], _ message: Int) throws(JSONError) -> [UInt8] {
    var output = ByteBuffer()
    try encode(wire.span, message: message, into: &output)
    return output.bytes
  }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
