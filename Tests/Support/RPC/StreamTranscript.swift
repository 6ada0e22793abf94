import Bytes
package import REST
package import RPC

/// What the readers of streams make of a body, as lines of text: a line for each whole message, and one for the end.
///
/// Equal bytes must give equal transcripts however they are cut.
package enum StreamTranscript {
  package static let limit = 1_000

  /// The transcript of envelopes.
  package static func envelopes(
    _ pieces: [ArraySlice<UInt8>], _ dialect: EnvelopeDialect, _ direction: EnvelopeReader.Direction
  ) -> [String] {
    var reader = EnvelopeReader(maximumMessage: limit, dialect: dialect, direction: direction)
    var input = ByteBuffer()
    var lines: [String] = []
    var payload: [UInt8] = []
    do {
      for piece in pieces {
        input.append(Array(piece))
        var isWaiting = false
        while !isWaiting {
          switch try reader.next(&input) {
          case .needsMore: isWaiting = true
          case .head(let head): payload = [head.flags]
          case .data(let count):
            payload += input.bytes.prefix(count)
            input.consume(count)
          case .end: lines.append("message \(payload)")
          }
        }
      }
      try reader.inputClosed(leftover: input.count)
      return lines + ["complete, \(reader.messages) messages"]
    } catch {
      return lines + ["\(error)"]
    }
  }

  /// The transcript of JSON messages from a REST caller, or of a REST service.
  package static func json(
    _ pieces: [ArraySlice<UInt8>], _ form: StreamReader.Form, of side: StreamReader.Side = .caller
  ) -> [String] {
    var reader = StreamReader(form, of: side, maximumMessage: limit)
    return read(pieces) { input, isLast, lines in
      switch try reader.next(&input, isLast: isLast) {
      case .needsMore: return .needsMore
      case .message(let count):
        lines.append("message \(Array(input.bytes.prefix(count)))")
        input.consume(count)
        return .another
      case .end: return .end
      }
    }
  }

  /// The transcript of server-sent events.
  package static func events(_ pieces: [ArraySlice<UInt8>]) -> [String] {
    var reader = EventReader(maximumMessage: limit)
    return read(pieces) { input, isLast, lines in
      switch try reader.next(&input, isLast: isLast) {
      case .needsMore: return .needsMore
      case .message: lines.append("message \(reader.data.bytes)")
      case .error: lines.append("error \(reader.data.bytes)")
      case .end: return isLast ? .end : .needsMore
      }
      return .another
    }
  }

  /// What a reader came upon.
  private enum Found {
    case another, needsMore, end
  }

  /// Hands a reader piece after piece and then the end of the body, until it finds the end of the stream.
  private static func read(
    _ pieces: [ArraySlice<UInt8>],
    _ next: (_ input: inout ByteBuffer, _ isLast: Bool, _ lines: inout [String]) throws -> Found
  ) -> [String] {
    var input = ByteBuffer()
    var lines: [String] = []
    do {
      for index in 0...pieces.count {
        let isLast = index == pieces.count
        if !isLast { input.append(Array(pieces[index])) }
        var found = Found.another
        while found == .another { found = try next(&input, isLast, &lines) }
        if found == .end { return lines + ["complete"] }
      }
      return lines + ["no end"]
    } catch {
      return lines + ["\(error)"]
    }
  }

  /// The transcript of base64.
  package static func text(_ pieces: [ArraySlice<UInt8>]) -> (bytes: [UInt8], fault: String?) {
    var decoder = GRPCWebText.Decoder(direction: .request)
    var output = ByteBuffer()
    do {
      for piece in pieces {
        let bytes = Array(piece)
        try decoder.decode(bytes.span, into: &output)
      }
      try decoder.finish(into: &output)
      return (output.bytes, nil)
    } catch {
      return (output.bytes, "\(error)")
    }
  }

  package static func byteWise(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] { bytes.indices.map { bytes[$0...$0] } }
}
