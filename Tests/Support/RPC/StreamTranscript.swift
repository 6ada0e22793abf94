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
    var input = ByteBuffer()
    var lines: [String] = []
    do {
      for index in 0...pieces.count {
        if index < pieces.count { input.append(Array(pieces[index])) }
        var isWaiting = false
        while !isWaiting {
          switch try reader.next(&input, isLast: index == pieces.count) {
          case .needsMore: isWaiting = true
          case .message(let count):
            lines.append("message \(Array(input.bytes.prefix(count)))")
            input.consume(count)
          case .end: return lines + ["complete"]
          }
        }
      }
      return lines + ["no end"]
    } catch {
      return lines + ["\(error)"]
    }
  }

  /// The transcript of server-sent events.
  package static func events(_ pieces: [ArraySlice<UInt8>]) -> [String] {
    var reader = EventReader(maximumMessage: limit)
    var input = ByteBuffer()
    var lines: [String] = []
    do {
      for index in 0...pieces.count {
        if index < pieces.count { input.append(Array(pieces[index])) }
        var isWaiting = false
        while !isWaiting {
          switch try reader.next(&input, isLast: index == pieces.count) {
          case .needsMore: isWaiting = true
          case .message: lines.append("message \(reader.data.bytes)")
          case .error: lines.append("error \(reader.data.bytes)")
          case .end where index < pieces.count: isWaiting = true
          case .end: return lines + ["complete"]
          }
        }
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
