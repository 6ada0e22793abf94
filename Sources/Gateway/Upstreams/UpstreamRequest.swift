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
  /// Written between tries, too.
  var fields: FieldBlock { passing ?? own }
  /// How the body is sent.
  var framing = BodyFraming.none
  // Unchecked (decision 52): replaced as a whole, and lent to who only takes it back.
  /// The whole body; nil when it is streamed, or when there is none.
  @exclusivity(unchecked) var body: Payload?
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

  // Unchecked (decision 52): read and replaced as a whole.
  /// A caller's own fields, which pass.
  @exclusivity(unchecked) var passing: FieldBlock?
  @exclusivity(unchecked) private var own = FieldBlock()
  /// The loop that gets it back, see ``Worker/takeRequest()``; nil: none does.
  var lender: Worker?

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

/// Being used again.
extension UpstreamRequest {
  /// Bytes of memory that a request keeps for its next use.
  private static let keptBytes = 4 << 10

  /// Makes the request as new, with its memory kept.
  ///
  /// - Returns: false when somebody still has its fields, or when it is too large to be kept.
  func reset() -> Bool {
    passing = nil
    body = nil
    lender = nil
    guard target.capacity + authority.capacity + own.capacity <= Self.keptBytes, isKnownUniquelyReferenced(&own) else {
      return false
    }
    target.removeAll()
    authority.removeAll()
    own.removeAll()
    method = .get
    framing = .none
    envelope = nil
    upgrades = false
    isIdempotent = false
    isStream = false
    streamsMessages = false
    return true
  }
}
