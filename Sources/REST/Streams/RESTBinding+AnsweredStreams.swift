import Bytes
import ProtoJSON
import ProtobufSchema
package import RPC

/// How the answer of a REST backend to a method that streams from the server holds its messages.
package enum AnsweredStream: Sendable, Equatable {
  case values(StreamReader.Form)
  /// Server-sent events.
  case events

  /// For `Accept`: what can be read one by one comes before an array, which many backends make only when they have all.
  package static let accepted: StaticString =
    "application/x-ndjson, application/jsonl;q=0.9, application/json-seq;q=0.8, text/event-stream;q=0.7, application/json;q=0.6"

  private static let lineTypes: [StaticString] = [
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
    "application/stream+json",
  ]

  /// - Parameter contentType: nil: JSON.
  init?(_ contentType: Span<UInt8>?) {
    guard let contentType else {
      self = .values(.json)
      return
    }
    for type in Self.lineTypes where MediaType.matches(contentType, type) {
      self = .values(.lines)
      return
    }
    if MediaType.matches(contentType, "application/json-seq") {
      self = .values(.sequence)
    } else if MediaType.matches(contentType, "text/event-stream") {
      self = .events
    } else if ProtobufMediaType(contentType) != nil {
      self = .values(.whole)
    } else if MediaType.isJSON(contentType) {
      self = .values(.json)
    } else {
      return nil
    }
  }
}

extension RESTBinding {
  /// How a 2xx answer is read.
  ///
  /// - Parameter contentType: nil when the answer has none: it is then read as JSON.
  /// - Throws: `internal` for a type that holds no messages.
  package func answeredStream(status: Int, contentType: Span<UInt8>?) throws(RPCError) -> AnsweredStream {
    if answersRaw { return .values(.raw) }
    if let form = AnsweredStream(contentType) { return form }
    var name = ""
    if let contentType { name = String(repairing: contentType) }
    let detail = "content-type \(name), status \(status)"
    throw RPCError(
      .internal, "the backend's answer is no stream of messages", httpStatus: 502, logDetail: detail,
      misfit: RPCError.Misfit(path: "", reason: detail))
  }

  /// Whether it is the error that ends a stream of JSON in the place of a message: an object with `error` alone, an object
  /// or a text (``StreamWriter``). An answer that has a field of this name is a message.
  ///
  /// - Parameter envelope: the member that wraps each message; an error stands outside of it.
  package func isStreamError(_ json: Span<UInt8>, envelope: String?) -> Bool {
    Self.beginsWithError(json) && Self.isErrorAlone(json) && (envelope != nil || !declaresError)
  }

  /// Whether the first member is `error`: that of most messages is another, and they need no further look.
  private static func beginsWithError(_ json: Span<UInt8>) -> Bool {
    guard !json.isEmpty, json[0] == UInt8(ascii: "{") else { return false }
    var start = 1
    while start < json.count, json[start] <= 0x20 { start &+= 1 }
    return json.count - start >= 7 && ASCII.equal(json.extracting(start..<start &+ 7), "\"error\"")
  }

  private static func isErrorAlone(_ json: Span<UInt8>) -> Bool {
    var scanner = JSONScanner(json)
    do throws(JSONFault) {
      guard scanner.take(UInt8(ascii: "{")) else { return false }
      var isFirst = true
      guard try scanner.nextMember(&isFirst) == "error" else { return false }
      let first = scanner.peek()
      guard first == UInt8(ascii: "{") || first == UInt8(ascii: "\"") else { return false }
      try scanner.skipValue()
      guard try scanner.nextMember(&isFirst) == nil else { return false }
      try scanner.finish()
      return true
    } catch {
      // Whoever reads the message says what is wrong with it.
      return false
    }
  }

  /// Whether the answer's message has a field `error`.
  private var declaresError: Bool {
    var message = output
    if case .field(let field) = response {
      let type = schema.messages[output].fields[field]
      guard Self.holdsMessage(type), schema.messages.indices.contains(type.messageIndex) else { return false }
      message = type.messageIndex
    }
    return schema.messages[message].fields.contains { $0.name == "error" || $0.jsonName == "error" }
  }

  /// Where the array lies that an envelope holds in the place of one message, as APIs wrap their lists; nil for a message.
  package func enclosedArray(_ json: Span<UInt8>, envelope: String) -> Range<Int>? {
    guard !answersList else { return nil }
    do throws(JSONFault) {
      guard let range = try Envelope.unwrap(json, member: envelope), json[range.lowerBound] == UInt8(ascii: "[") else {
        return nil
      }
      return range
    } catch {
      return nil
    }
  }

  /// Whether the JSON of one message may be an array.
  private var answersList: Bool {
    var message = output
    if case .field(let field) = response {
      let type = schema.messages[output].fields[field]
      guard type.cardinality != .repeated else { return true }
      guard Self.holdsMessage(type), schema.messages.indices.contains(type.messageIndex) else { return false }
      message = type.messageIndex
    }
    let wellKnown = schema.messages[message].wellKnown
    return wellKnown == .listValue || wellKnown == .value
  }
}
