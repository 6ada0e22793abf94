import Bytes
package import HTTP1
package import HTTPModel

/// What a connection's parsers make of the bytes of one direction, as lines of text.
///
/// Equal bytes must give equal transcripts however they are cut. Body bytes are one line, whatever pieces they came in.
package final class ConnectionTranscript {
  package enum Side: Sendable, CaseIterable {
    case requests, responses
  }

  package private(set) var lines: [String] = []
  private let side: Side
  private let limits: HeadLimits
  private var input = ByteBuffer()
  private var requests: RequestHeadParser
  private var responses: ResponseHeadParser
  private let request = RequestHead()
  private let response = ResponseHead()
  private var body: BodyReader?
  private var trailers = FieldBlock()
  private var content: [UInt8] = []
  private var hasFailed = false

  package init(_ side: Side, limits: HeadLimits = HeadLimits()) {
    self.side = side
    self.limits = limits
    requests = RequestHeadParser(limits: limits)
    responses = ResponseHeadParser(limits: limits)
  }

  /// The transcript of pieces that come one after the other, and then the end of the connection.
  package static func of(
    _ side: Side, _ pieces: [ArraySlice<UInt8>], limits: HeadLimits = HeadLimits()
  ) -> [String] {
    let transcript = ConnectionTranscript(side, limits: limits)
    for piece in pieces { transcript.feed(piece) }
    transcript.close()
    return transcript.lines
  }

  package static func of(_ side: Side, _ bytes: [UInt8], limits: HeadLimits = HeadLimits()) -> [String] {
    of(side, [bytes[...]], limits: limits)
  }

  package static func byteWise(_ side: Side, _ bytes: [UInt8], limits: HeadLimits = HeadLimits()) -> [String] {
    of(side, bytes.indices.map { bytes[$0...$0] }, limits: limits)
  }

  package func feed(_ bytes: ArraySlice<UInt8>) {
    guard !hasFailed else { return }
    input.append(Array(bytes))
    catching { () throws(HTTP1Error) in while try step() {} }
  }

  package func close() {
    guard !hasFailed else { return }
    guard body != nil else {
      lines.append(hasBegun ? "closed inside a head" : "closed")
      return
    }
    catching { () throws(HTTP1Error) in
      try body?.inputClosed()
      while try step() {}
    }
    if !hasFailed { lines.append("closed") }
  }

  private var hasBegun: Bool {
    switch side {
    case .requests: requests.hasBegun
    case .responses: responses.hasBegun
    }
  }

  private func catching(_ work: () throws(HTTP1Error) -> Void) {
    do throws(HTTP1Error) {
      try work()
    } catch {
      hasFailed = true
      if body != nil { lines.append("body \(content.count): \(String(decoding: content, as: UTF8.self))") }
      lines.append("refused \(error.kind)")
    }
  }

  /// One head or one piece of a body; false when more bytes are needed.
  private func step() throws(HTTP1Error) -> Bool {
    guard body != nil else { return try readHead() }
    switch try body?.next(&input, trailers: trailers) {
    case .needsMore, nil:
      return false
    case .data(let count):
      content += input.bytes.prefix(count)
      input.consume(count)
    case .end:
      lines.append("body \(content.count): \(String(decoding: content, as: UTF8.self))")
      lines.append(contentsOf: Self.texts(of: trailers).map { "trailer \($0)" })
      lines.append("end")
      body = nil
    }
    return true
  }

  private func readHead() throws(HTTP1Error) -> Bool {
    let framing: BodyFraming
    let fields: FieldBlock
    switch side {
    case .requests:
      guard try requests.parse(&input, into: request) else { return false }
      let authority = request.authority.withSpan { String(repairing: $0) }
      lines.append(
        "\(request.method.name) \(request.targetText) \(request.version.name) path \(request.pathEnd) for \(authority)")
      framing = try MessageFraming.ofRequest(request)
      fields = request.fields
    case .responses:
      guard try responses.parse(&input, into: response) else { return false }
      lines.append("\(response.version.name) \(response.status)")
      framing = try MessageFraming.ofResponse(response, to: .get)
      fields = response.fields
    }
    lines.append(contentsOf: Self.texts(of: fields))
    lines.append("framing \(framing)")
    let options = HopByHop.remove(from: fields)
    lines.append("\(options)")
    lines.append(contentsOf: Self.texts(of: fields).map { "kept \($0)" })
    trailers = FieldBlock()
    content = []
    body = BodyReader(framing: framing, limits: limits)
    return true
  }

  /// Each field that is not removed, as `name: value`.
  package static func texts(of fields: FieldBlock) -> [String] {
    fields.indices.filter { !fields.entry(at: $0).isRemoved }.map { "\(fields.name(at: $0)): \(fields.text(at: $0))" }
  }
}
