import Bytes
import ProtoJSON
import ProtobufSchema

/// The codec under test, with the buffer that it writes into each time.
struct Subject: ~Copyable {
  let codec: JSONCodec
  let message: Int
  private var output = ByteBuffer()

  init(codec: JSONCodec, message: Int) {
    self.codec = codec
    self.message = message
  }

  /// Does one document and gives the length of the result.
  @inline(never)
  mutating func run(_ direction: Options.Direction, _ input: [UInt8]) throws(JSONError) -> Int {
    output.removeAll()
    switch direction {
    case .decode:
      var outcome = DecodingOutcome()
      try codec.decode(input.span, message: message, outcome: &outcome, into: &output)
    case .encode:
      try codec.encode(input.span, message: message, into: &output)
    }
    return output.count
  }

  mutating func bytes(_ direction: Options.Direction, _ input: [UInt8]) throws(JSONError) -> [UInt8] {
    _ = try run(direction, input)
    return output.bytes
  }
}
