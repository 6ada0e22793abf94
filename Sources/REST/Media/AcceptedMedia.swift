import Bytes
import HTTPModel
import RPC

/// How an answer is written.
package enum AnswerForm: Sendable, Equatable {
  case json
  case protobuf(ProtobufMediaType)
}

/// What a REST caller reads: all Accept values of one request (RFC 9110 section 12.5.1).
package struct AcceptedMedia: Sendable {
  private struct Named {
    var weight: Int16
    /// Where it stood among all.
    var order: Int
    var type = ProtobufMediaType.x
  }

  private var json: Named?
  private var protobuf: Named?
  /// Of `application/*`.
  private var applications: Int16?
  /// Of `*/*`.
  private var everything: Int16?
  private var count = 0

  package init() {}

  /// Takes the elements of one field value. Elements with a malformed weight are ignored.
  package mutating func add(_ value: Span<UInt8>) {
    HeaderList.forEach(value, quoted: true) { addRange($0) }
  }

  private mutating func addRange(_ range: Span<UInt8>) {
    guard !range.isEmpty else { return }
    var nameEnd = 0
    while nameEnd < range.count, range[nameEnd] != UInt8(ascii: ";") { nameEnd &+= 1 }
    guard let weight = QualityValue.weight(range.extracting(nameEnd..<range.count)) else { return }
    count += 1
    if MediaType.matches(range, "*/*") {
      everything = max(everything ?? 0, weight)
    } else if MediaType.matches(range, "application/*") {
      applications = max(applications ?? 0, weight)
    } else if MediaType.isJSON(range) {
      if json == nil || weight > json?.weight ?? 0 { json = Named(weight: weight, order: count) }
    } else if let type = ProtobufMediaType(range) {
      if protobuf == nil || weight > protobuf?.weight ?? 0 {
        protobuf = Named(weight: weight, order: count, type: type)
      }
    }
  }

  /// The form of an answer.
  ///
  /// The greater weight wins; among equals what is named by a name wins over a wildcard, then what is named first.
  /// A wildcard means JSON. Without the field, the answer is written as the request was. A field that names nothing
  /// that the gateway writes is disregarded.
  ///
  /// - Parameters:
  ///   - own: the protobuf type of the request's own body.
  ///   - hasProtobuf: whether the answer can be protobuf.
  /// - Returns: nil when the caller reads protobuf only and there is none (HTTP 406).
  package func form(own: ProtobufMediaType?, hasProtobuf: Bool) -> AnswerForm? {
    guard count > 0 else {
      guard hasProtobuf, let own else { return .json }
      return .protobuf(own)
    }
    let general = applications ?? everything ?? 0
    let jsonWeight = json?.weight ?? general
    let named = protobuf.flatMap { $0.weight > 0 ? $0 : nil }
    guard hasProtobuf else { return named != nil && jsonWeight == 0 ? nil : .json }
    if let named {
      let isFirst = json.map { named.order < $0.order } ?? true
      if named.weight > jsonWeight || named.weight == jsonWeight && isFirst { return .protobuf(named.type) }
    } else if jsonWeight == 0, protobuf == nil, general > 0 {
      return .protobuf(.x)
    }
    return .json
  }
}
