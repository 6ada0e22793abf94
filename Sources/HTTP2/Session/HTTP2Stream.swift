package import Bytes
package import HTTPModel

/// One request and its answer on a connection, as the session keeps it: heads, trailers, and the body bytes that wait
/// on the way in and on the way out.
///
/// The session holds it until it is closed. What it holds is bounded: on the way in by the stream's window, on the way
/// out by its owner, who looks at ``HTTP2Stream/output``. The loop's sessions use it again for another exchange when
/// nobody else holds it any more.
///
/// What others see is computed from variables of this module, so that nothing is checked for each of them while running:
/// see the package's manifest.
package final class HTTP2Stream {
  package var id: Int32 { number }
  /// Filled by a server's session.
  package var request: RequestHead {
    if let requestHead { return requestHead }
    let made = RequestHead()
    requestHead = made
    return made
  }
  /// Filled by a client's session: an interim head first, if there is one, then the final one.
  package var response: ResponseHead {
    if let responseHead { return responseHead }
    let made = ResponseHead()
    responseHead = made
    return made
  }
  /// The trailer section of the peer; without what may not stand there.
  package var trailers: FieldBlock {
    if let trailerFields { return trailerFields }
    let made = FieldBlock()
    trailerFields = made
    return made
  }
  /// What the peer's Content-Length says; the field itself is left out of the head.
  package var contentLength: Int? { announcedLength }
  /// Whether the peer has ended its direction, in order.
  package var hasReceivedEnd: Bool { isInputWhole }
  // These two are not computed: an accessor that lends costs an allocation where it is not inlined. Unchecked all the
  // same (decision 52): the session and the owner take turns on one loop, and a queue calls nobody.
  /// Body bytes that came and were not taken. Whoever consumes some returns their credit with
  /// ``HTTP2Session/credit(_:_:)``.
  @exclusivity(unchecked) package var input = ByteQueue()
  /// Body bytes that are not sent.
  @exclusivity(unchecked) package internal(set) var output = ByteQueue()
  /// Bytes of ``input`` and of ``output``, for who looks at them from outside: there each look would be checked.
  package var inputCount: Int { unsafe input.count }
  package var outputCount: Int { unsafe output.count }
  /// Whether the stream is over: nothing can be sent.
  package var isClosed: Bool { isOver }
  package var owner: (any HTTP2StreamOwner)? {
    get { holder }
    set { holder = newValue }
  }

  /// Whether what the peer sent was refused.
  package var isFaulty: Bool { fault != nil }
  /// Whether ``HTTP2Session/end(_:trailers:)`` was called.
  package var hasEnded: Bool { hasOutputEnded }
  /// Whether END_STREAM was handed to the peer.
  package var hasSentEnd: Bool { isOutputSent }

  // What the session keeps.
  enum Section {
    case request
    case response
    case trailers
  }
  var number: Int32 = 0
  var holder: (any HTTP2StreamOwner)?
  var isOver = false
  var section = Section.request
  var fieldBytes = 0
  var fieldCount = 0
  /// The first thing that is wrong with the section that comes.
  var fault: HTTP2Fault.Kind?
  var cookies = ByteBuffer()
  var announcedLength: Int?
  var receivedBytes = 0
  var isInputWhole = false
  var hasFinalHead = false

  var hasOutputEnded = false
  /// Whether ``outputTrailers`` are to be sent behind the output.
  var owesTrailers = false
  /// Whether the session waits to be told of more output.
  var isDeferred = false
  var isOutputSent = false
  var isListedAsDrained = false
  /// When frames were last made at once for it, see ``HTTP2Session/batch``.
  var lastBatch: UInt32 = 0
  /// The peer need not go on once our direction has ended.
  var stopsPeerAtEnd = false

  private var requestHead: RequestHead?
  private var responseHead: ResponseHead?
  private var trailerFields: FieldBlock?
  private var outputTrailerFields: FieldBlock?

  /// This side's trailer section, as it was when the direction ended.
  var outputTrailers: FieldBlock {
    if let outputTrailerFields { return outputTrailerFields }
    let made = FieldBlock()
    outputTrailerFields = made
    return made
  }

  init() {}
}

/// Being used again.
extension HTTP2Stream {
  /// Bytes of a field section that a stream keeps for its next use.
  package static let keptBytes = 4 << 10

  /// Bytes of all its memory; body bytes are in that of the loop.
  var heldBytes: Int {
    var bytes = cookies.capacity
    if let requestHead { bytes += requestHead.fields.capacity + requestHead.target.capacity }
    if let responseHead { bytes += responseHead.fields.capacity }
    if let trailerFields { bytes += trailerFields.capacity }
    if let outputTrailerFields { bytes += outputTrailerFields.capacity }
    return bytes
  }

  /// Makes the stream as new, with its memory kept.
  ///
  /// - Returns: false when somebody still holds one of its heads, or when it is too large to be kept.
  func reset() -> Bool {
    guard isOver, unsafe input.isEmpty, unsafe output.isEmpty, resetHeads() else { return false }
    cookies.releaseStorage()
    number = 0
    holder = nil
    isOver = false
    section = .request
    fieldBytes = 0
    fieldCount = 0
    fault = nil
    announcedLength = nil
    receivedBytes = 0
    isInputWhole = false
    hasFinalHead = false
    hasOutputEnded = false
    owesTrailers = false
    isDeferred = false
    isOutputSent = false
    isListedAsDrained = false
    lastBatch = 0
    stopsPeerAtEnd = false
    return true
  }

  private func resetHeads() -> Bool {
    if requestHead != nil, !isKnownUniquelyReferenced(&requestHead) { return false }
    if responseHead != nil, !isKnownUniquelyReferenced(&responseHead) { return false }
    if let head = requestHead {
      guard head.fields.capacity <= Self.keptBytes, head.target.capacity <= Self.keptBytes else { return false }
      head.removeAll()
    }
    if let head = responseHead {
      guard head.fields.capacity <= Self.keptBytes else { return false }
      head.removeAll()
    }
    Self.clear(&trailerFields)
    Self.clear(&outputTrailerFields)
    return true
  }

  /// A section that somebody still reads, or that is too large, is not used again.
  private static func clear(_ fields: inout FieldBlock?) {
    if fields != nil, !isKnownUniquelyReferenced(&fields) { fields = nil }
    if let known = fields, known.capacity > keptBytes { fields = nil }
    fields?.removeAll()
  }
}
