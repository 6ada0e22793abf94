import Bytes
import HTTP1
import HTTPModel
import RPC

/// What one attempt sends: a head, and the whole body when it is known before.
final class UpstreamRequest {
  var method = HTTPMethod.get
  // Unchecked, as all of this file that says so (decision 52): written before the request is sent, and only read from
  // then on.
  @exclusivity(unchecked) var target = ByteBuffer()
  /// For the Host field; empty: the endpoint's own.
  @exclusivity(unchecked) var authority = ByteBuffer()
  // The reference is never replaced; what it refers to is written between tries, too, by who calls nobody.
  @exclusivity(unchecked) var fields: FieldBlock
  /// How the body is sent.
  var framing = BodyFraming.none
  /// The whole body; nil when it is streamed, or when there is none.
  var body: Payload?
  /// Goes before the body; counted in a length of ``framing``.
  var envelope: EnvelopeHead?
  /// Whether the exchange asks for a tunnel (`Upgrade: websocket`).
  var upgrades = false
  /// Whether sending it twice is harmless: a safe or idempotent method.
  var isIdempotent = false
  /// Whether the answer may have many messages, or none for a while; true where nobody knows.
  var isStream = false
  /// Whether its body is messages that come one by one, so that nobody knows the last before it was sent.
  var streamsMessages = false

  /// Whose the fields are; nil: the request's own, or its caller's.
  private let lender: Worker?

  init(fields: FieldBlock = FieldBlock()) {
    self.fields = fields
    lender = nil
  }

  /// With fields of the loop's, which get back to it.
  init(of worker: Worker) {
    fields = worker.takeFields()
    lender = worker
  }

  deinit { if let lender, isKnownUniquelyReferenced(&fields) { lender.give(fields) } }

  /// Appends the whole body; false when there is none, or when it is streamed.
  func appendBody(to output: inout ByteBuffer) -> Bool {
    guard let body else { return false }
    envelope?.write(into: &output)
    output.append(body.buffer)
    return true
  }

  /// Whether the request is there as a whole and can be written again.
  var isReplayable: Bool { body != nil || framing == .none || framing == .length(0) }
}
