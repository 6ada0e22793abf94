public import Bytes

/// The base64 of gRPC-Web text: the byte stream of the binary form, in one piece or in several that are each padded.
public enum GRPCWebText {
  /// Decodes a body as it arrives, whatever the pieces; takes either alphabet.
  public struct Decoder: Sendable {
    private let fault: Code
    /// The bits of a group of four digits that is not whole yet.
    private var bits: UInt32 = 0
    private var digits = 0
    /// Padding that was seen in the open group.
    private var padding = 0

    /// - Parameter direction: a caller's fault is `invalid_argument`, an upstream's `internal`.
    public init(direction: EnvelopeReader.Direction) {
      fault = direction == .request ? .invalidArgument : .internal
    }

    /// Appends the bytes that are whole with this text.
    ///
    /// - Throws: for a byte that is no digit, and padding in a place where none may stand.
    public mutating func decode(_ text: Span<UInt8>, into output: inout ByteBuffer) throws(RPCError) {
      output.reserve(text.count / 4 &* 3 &+ 3)
      var index = 0
      while index < text.count {
        if digits == 0, padding == 0, text.count &- index >= 4 {
          let values = (
            Self.value(text[index]), Self.value(text[index &+ 1]), Self.value(text[index &+ 2]),
            Self.value(text[index &+ 3])
          )
          if values.0 | values.1 | values.2 | values.3 < 64 {
            let word = UInt32(values.0) << 18 | UInt32(values.1) << 12 | UInt32(values.2) << 6 | UInt32(values.3)
            output.append(UInt8(truncatingIfNeeded: word >> 16))
            output.append(UInt8(truncatingIfNeeded: word >> 8))
            output.append(UInt8(truncatingIfNeeded: word))
            index &+= 4
            continue
          }
        }
        try take(text[index], into: &output)
        index &+= 1
      }
    }

    private mutating func take(_ byte: UInt8, into output: inout ByteBuffer) throws(RPCError) {
      if byte == UInt8(ascii: "=") {
        guard digits >= 2, digits + padding < 4 else { throw RPCError(fault, "base64 has padding in a wrong place") }
        padding += 1
        if digits + padding == 4 { closeGroup(into: &output) }
        return
      }
      let value = Self.value(byte)
      guard value < 64, padding == 0 else { throw RPCError(fault, "the gRPC-Web text is no base64") }
      bits = bits << 6 | UInt32(value)
      digits += 1
      if digits == 4 { closeGroup(into: &output) }
    }

    /// Appends the one to three bytes of the open group.
    private mutating func closeGroup(into output: inout ByteBuffer) {
      let word = bits << UInt32((4 &- digits) &* 6)
      output.append(UInt8(truncatingIfNeeded: word >> 16))
      if digits > 2 { output.append(UInt8(truncatingIfNeeded: word >> 8)) }
      if digits > 3 { output.append(UInt8(truncatingIfNeeded: word)) }
      bits = 0
      digits = 0
      padding = 0
    }

    /// The text is complete: appends what a last group without padding holds.
    ///
    /// - Throws: when it ends with one digit, or with half of its padding.
    public mutating func finish(into output: inout ByteBuffer) throws(RPCError) {
      if digits == 0 { return }
      guard digits >= 2, padding == 0 else { throw RPCError(fault, "the gRPC-Web text ends inside a group of base64") }
      closeGroup(into: &output)
    }

    @inline(__always)
    private static func value(_ byte: UInt8) -> UInt8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte &- 65
      case UInt8(ascii: "a")...UInt8(ascii: "z"): byte &- 71
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &+ 4
      case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
      default: 255
      }
    }
  }

  /// Encodes a body as it is written: groups go over the borders of what is appended; a flush pads.
  public struct Encoder: Sendable {
    /// Up to two bytes that are no group yet.
    private var held: (UInt8, UInt8) = (0, 0)
    private var heldCount = 0

    public init() {}

    /// Appends the text of these bytes, up to the last whole group.
    public mutating func encode(_ bytes: Span<UInt8>, into output: inout ByteBuffer) {
      var start = 0
      if heldCount > 0 {
        while heldCount < 3, start < bytes.count {
          if heldCount == 1 {
            held.1 = bytes[start]
            heldCount = 2
            start += 1
            continue
          }
          let group: [3 of UInt8] = [held.0, held.1, bytes[start]]
          Base64.encode(group.span, into: &output)
          heldCount = 0
          start += 1
          break
        }
        if heldCount > 0 { return }
      }
      let whole = (bytes.count - start) / 3 * 3
      Base64.encode(bytes.extracting(start..<start + whole), into: &output)
      for index in start + whole..<bytes.count {
        if heldCount == 0 { held.0 = bytes[index] } else { held.1 = bytes[index] }
        heldCount += 1
      }
    }

    /// Appends what is held, padded: the peer can decode all that was written before. At the end, and before a pause.
    public mutating func flush(into output: inout ByteBuffer) {
      guard heldCount > 0 else { return }
      let rest: [2 of UInt8] = [held.0, held.1]
      Base64.encode(rest.span.extracting(first: heldCount), into: &output)
      heldCount = 0
    }
  }
}
