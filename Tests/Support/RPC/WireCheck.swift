import Bytes
import HTTPModel
import REST
import RPC

/// What must hold of any bytes that are read as a body, as trailers or as a status.
package enum WireCheck {
  /// The first property that does not hold.
  package static func fault(_ bytes: [UInt8]) -> String? {
    cuts(bytes) ?? tap(bytes) ?? text(bytes) ?? trailers(bytes) ?? status(bytes)
  }

  private static let dialects: [EnvelopeDialect] = [.connect, .grpc, .grpcWeb]

  /// The same bytes mean the same, however they are cut.
  private static func cuts(_ bytes: [UInt8]) -> String? {
    let pieces = StreamTranscript.byteWise(bytes)
    for dialect in dialects {
      for direction in [EnvelopeReader.Direction.request, .response] {
        let whole = StreamTranscript.envelopes([bytes[...]], dialect, direction)
        let byteWise = StreamTranscript.envelopes(pieces, dialect, direction)
        if whole != byteWise { return "\(dialect) \(direction): \(whole) is not \(byteWise)" }
      }
    }
    for form in [StreamReader.Form.lines, .array, .json, .sequence, .whole] {
      for side in [StreamReader.Side.caller, .upstream] {
        let whole = StreamTranscript.json([bytes[...]], form, of: side)
        let byteWise = StreamTranscript.json(pieces, form, of: side)
        if whole != byteWise { return "\(form) \(side): \(whole) is not \(byteWise)" }
        if whole.last == "no end" { return "\(form) does not end" }
      }
    }
    let events = (StreamTranscript.events([bytes[...]]), StreamTranscript.events(pieces))
    if events.0 != events.1 { return "events: \(events.0) is not \(events.1)" }
    if events.0.last == "no end" { return "events do not end" }
    let whole = StreamTranscript.text([bytes[...]])
    let byteWise = StreamTranscript.text(pieces)
    return whole == byteWise ? nil : "text: \(whole) is not \(byteWise)"
  }

  /// A response that the reader takes whole is one that the tap finds complete, with as many messages.
  private static func tap(_ bytes: [UInt8]) -> String? {
    for dialect in dialects {
      var tap = StreamTap(dialect: dialect)
      tap.observe(bytes.span)
      let isComplete = tap.isComplete
      tap.ended()
      let transcript = StreamTranscript.envelopes([bytes[...]], dialect, .response)
      guard transcript.last == "complete, \(tap.messages) messages" else {
        if transcript.last?.hasPrefix("complete") == true { return "\(dialect): the tap counts \(tap.messages)" }
        continue
      }
      if !isComplete { return "\(dialect): the tap finds a whole response incomplete" }
    }
    return nil
  }

  /// What is encoded, in pieces or whole, is decoded again.
  private static func text(_ bytes: [UInt8]) -> String? {
    let cut = bytes.first.map { Int($0) % (bytes.count + 1) } ?? 0
    var encoder = GRPCWebText.Encoder()
    var output = ByteBuffer()
    for piece in [bytes[..<cut], bytes[cut...]] {
      let piece = Array(piece)
      encoder.encode(piece.span, into: &output)
      if cut % 2 == 0 { encoder.flush(into: &output) }
    }
    encoder.flush(into: &output)
    let decoded = StreamTranscript.text([output.bytes[...]])
    return decoded.bytes == bytes && decoded.fault == nil ? nil : "base64 of \(bytes) is decoded to \(decoded)"
  }

  /// Trailers that are read are written so that they are read the same, as one envelope that ends a response.
  private static func trailers(_ bytes: [UInt8]) -> String? {
    let first = FieldBlock()
    guard (try? GRPCWebTrailers.read(bytes.span, into: first)) != nil else { return nil }
    var output = ByteBuffer()
    GRPCWebTrailers.write(first, into: &output)
    let second = FieldBlock()
    let payload = Array(output.bytes.dropFirst(EnvelopeHead.size))
    guard (try? GRPCWebTrailers.read(payload.span, into: second)) != nil else { return "written trailers are not read" }
    if lines(first) != lines(second) { return "\(lines(first)) is not \(lines(second))" }
    let transcript = StreamTranscript.envelopes([output.bytes[...]], .grpcWeb, .response)
    if payload.count <= EnvelopeReader.maximumEnd, transcript.last != "complete, 0 messages" {
      return "written trailers do not end a response: \(transcript)"
    }
    return nil
  }

  private static func lines(_ block: FieldBlock) -> [String] {
    block.indices.filter { !block.entry(at: $0).isRemoved }.map { "\(block.name(at: $0)): \(block.text(at: $0))" }
  }

  /// A status that is read is written so that it is read the same: code, message, details.
  private static func status(_ bytes: [UInt8]) -> String? {
    let fields = FieldBlock()
    for (index, part) in bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).enumerated() {
      var value = ByteBuffer(part)
      if index == 2 {
        value.removeAll()
        let part = Array(part)
        Base64.encode(part.span, into: &value)
      }
      fields.append([.grpcStatus, .grpcMessage, .grpcStatusDetailsBin][index], value.span)
    }
    guard case .error(let first) = GRPCStatus.read(fields) else { return nil }
    let written = FieldBlock()
    GRPCStatus.write(first, into: written)
    guard case .error(let second) = GRPCStatus.read(written) else { return "a written error is none" }
    if first.code != second.code { return "\(first.code) is not \(second.code)" }
    // Longer ones are cut, or left out.
    if bytes.count < 2_000, first.message != second.message { return "\(first.message) is not \(second.message)" }
    if bytes.count < 2_000, first.details != second.details { return "details are not the same" }
    for index in written.indices where !written.withValue(at: index, { FieldSyntax.isValue($0) }) {
      return "a value that may not stand in a field: \(written.text(at: index))"
    }
    return nil
  }
}
