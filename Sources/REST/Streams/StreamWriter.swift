package import Bytes
package import ProtoJSON
package import RPC

/// Writes the messages of a stream for a REST caller, each as soon as it comes.
///
/// What the caller sees, and how it sees an error in mid-stream (one before the first message is an ordinary answer
/// with the error's status):
///
/// | form | messages | error | success |
/// | --- | --- | --- | --- |
/// | `ndjson` | `{…}\n{…}\n` | a line `{"error":{…}}` | the body ends |
/// | `array` | `[{…},{…}` | a last element `{"error":{…}}`, then `]` | `]` |
/// | `sse` | `event:` and `id:` where the route names fields for them, `data: {…}` and a blank line | `event: error`, `data: {…}` | `event: end`, `data: {}` |
/// | raw | the bytes | the body is cut short: no last chunk, a reset | the body ends |
///
/// The error is in the route's format, as in an answer without a stream; in `ndjson` and `array` it stands under
/// `error`, which is where the format `google` has it anyway. Browsers open an event source again when it ends: a page
/// closes it at `end`.
package struct StreamWriter: Sendable {
  package enum Form: Sendable, Equatable {
    case json(StreamForm)
    /// The data of `google.api.HttpBody` messages, nothing around them.
    case raw
  }

  /// How the body ends.
  package enum Ending: Sendable, Equatable {
    case complete
    /// The body must be cut short, so that the caller knows.
    case cut
  }

  private let form: Form
  private let events: EventFields
  /// Messages that were written.
  package private(set) var messages = 0

  /// - Parameter events: what server-sent events have besides.
  package init(_ form: Form, events: EventFields = EventFields()) {
    self.form = form
    self.events = events
  }

  /// Appends one message.
  ///
  /// - Parameter envelope: the member that wraps each message; raw bytes are never wrapped.
  /// - Returns: the content type of a raw message; the first one's is that of the answer.
  /// - Throws: `internal` for a message that has no JSON; the output is then as it was before.
  @discardableResult
  package mutating func write(
    _ wire: Span<UInt8>, _ binding: RESTBinding, envelope: String?, into output: inout ByteBuffer
  ) throws(RPCError) -> String {
    let before = output.count
    switch form {
    case .json(.array): output.append(messages == 0 ? "[" : ",")
    case .json(.sse):
      if !events.isEmpty { events.write(wire, binding, into: &output) }
      output.append("data: ")
    case .json(.ndjson), .raw: break
    }
    let type: String
    do throws(RPCError) {
      type = try binding.encodeResponse(wire, envelope: envelope, into: &output)
    } catch {
      output.truncate(to: before)
      throw error
    }
    switch form {
    case .json(.ndjson): output.append("\n")
    case .json(.sse): output.append("\n\n")
    case .json(.array), .raw: break
    }
    messages &+= 1
    return type
  }

  /// Appends the end of the stream.
  ///
  /// - Parameters:
  ///   - error: nil for success.
  ///   - codec: renders the error's details.
  package func finish(
    _ error: RPCError?, format: ErrorFormat, codec: JSONCodec, into output: inout ByteBuffer
  ) -> Ending {
    guard let error else {
      switch form {
      case .json(.array): output.append(messages == 0 ? "[]" : "]")
      case .json(.sse): output.append("event: end\ndata: {}\n\n")
      case .json(.ndjson), .raw: break
      }
      return .complete
    }
    switch form {
    case .json(.ndjson):
      Self.write(error, format, codec, into: &output)
      output.append("\n")
    case .json(.array):
      output.append(messages == 0 ? "[" : ",")
      Self.write(error, format, codec, into: &output)
      output.append("]")
    case .json(.sse):
      output.append("event: error\ndata: ")
      _ = RESTErrors.write(error, format: format, codec: codec, into: &output)
      output.append("\n\n")
    case .raw:
      return .cut
    }
    return .complete
  }

  private static func write(_ error: RPCError, _ format: ErrorFormat, _ codec: JSONCodec, into output: inout ByteBuffer)
  {
    if format != .google { output.append("{\"error\":") }
    _ = RESTErrors.write(error, format: format, codec: codec, into: &output)
    if format != .google { output.append("}") }
  }
}
