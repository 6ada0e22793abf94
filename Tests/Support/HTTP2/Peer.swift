package import Bytes
package import HTTP2
package import HTTPModel

/// One side of a connection, with what happens on it written down.
package final class Peer {
  package let session: HTTP2Session
  package private(set) var events: [String] = []
  package private(set) var faults: [HTTP2Fault.Kind] = []
  package private(set) var streams: [HTTP2Stream] = []
  /// Whether input is taken and its credit returned at once.
  package var reads = true
  /// What a server does with each stream.
  package var onOpen: ((Peer, HTTP2Stream) -> Void)?
  package var onEnd: ((Peer, HTTP2Stream) -> Void)?
  /// Body bytes by stream, taken as they came.
  package private(set) var bodies: [Int32: [UInt8]] = [:]
  package private(set) var closes: [Int32: HTTP2ErrorCode] = [:]
  package private(set) var drains = 0
  package var now: UInt64 = 1_000_000_000

  package init?(_ role: HTTP2Session.Role, _ settings: HTTP2Settings = HTTP2Settings()) {
    guard let session = HTTP2Session(role: role, settings: settings, workspace: HTTP2Workspace()) else { return nil }
    self.session = session
    session.delegate = self
  }

  package func receive(_ bytes: [UInt8]) {
    var buffer = ByteBuffer(bytes)
    session.receive(&buffer, now: now)
  }

  package func output() -> [UInt8] {
    var buffer = ByteBuffer()
    session.send(into: &buffer, limit: .max)
    return buffer.bytes
  }

  package func body(_ stream: HTTP2Stream) -> String { String(decoding: bodies[stream.id] ?? [], as: UTF8.self) }

  /// Lets go of the streams so far, and of what is written down.
  package func forget() {
    streams = []
    events = []
    bodies = [:]
  }

  /// Lets go of streams that no end of theirs will free: peer and stream hold each other.
  package func release(_ more: [HTTP2Stream]) {
    for stream in streams + more { stream.owner = nil }
    streams = []
  }

  package func take(_ stream: HTTP2Stream) {
    let count = stream.input.count
    while !stream.input.isEmpty { bodies[stream.id, default: []] += stream.input.popFirst().bytes }
    session.credit(stream, count)
  }

  package static func fields(_ fields: FieldBlock) -> String {
    var texts: [String] = []
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      texts.append("\(fields.name(at: index))=\(fields.text(at: index))")
    }
    return texts.joined(separator: " ")
  }
}

extension Peer: HTTP2SessionDelegate {
  package func session(_ session: HTTP2Session, opened stream: HTTP2Stream) {
    let head = stream.request
    let authority = head.authority.withSpan { String(repairing: $0) }
    events.append("\(stream.id) \(head.method.name) \(authority) \(head.targetText) \(Self.fields(head.fields))")
    streams.append(stream)
    stream.owner = self
    onOpen?(self, stream)
    if stream.hasReceivedEnd { streamEnded(stream) }
  }

  package func session(_ session: HTTP2Session, refused stream: HTTP2Stream, _ fault: HTTP2Fault) {
    events.append("\(stream.id) refused \(fault.status ?? 0)")
    session.respond(stream, status: fault.status ?? 0, fields: FieldBlock(), contentLength: 0, hasBody: false)
    session.stopPeerAtEnd(of: stream)
  }

  package func session(_ session: HTTP2Session, fault: HTTP2Fault) { faults.append(fault.kind) }
  package func sessionGoesAway(_ session: HTTP2Session, _ code: HTTP2ErrorCode) { events.append("goaway \(code.name)") }
  package func sessionSettingsChanged(_ session: HTTP2Session) {}
  package func sessionStreamClosed(_ session: HTTP2Session) {}
}

extension Peer: HTTP2StreamOwner {
  package func streamHead(_ stream: HTTP2Stream) {
    events.append("\(stream.id) \(stream.response.status) \(Self.fields(stream.response.fields))")
  }

  package func stream(_ stream: HTTP2Stream, received bytes: inout ByteBuffer) {
    session.keep(&bytes, for: stream)
    if reads { take(stream) }
  }

  package func streamEnded(_ stream: HTTP2Stream) {
    events.append("\(stream.id) end '\(body(stream))' \(Self.fields(stream.trailers))")
    onEnd?(self, stream)
  }

  package func streamDrained(_ stream: HTTP2Stream) { drains += 1 }

  package func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    closes[stream.id] = code
    events.append("\(stream.id) closed \(code.name)")
  }
}

/// A client and a server whose bytes are carried between them.
package final class Pair {
  package let client: Peer
  package let server: Peer

  package init?(_ clientSettings: HTTP2Settings = HTTP2Settings(), _ serverSettings: HTTP2Settings = HTTP2Settings()) {
    guard let client = Peer(.client, clientSettings), let server = Peer(.server, serverSettings) else { return nil }
    self.client = client
    self.server = server
  }

  /// Carries bytes both ways until nobody has more to say.
  package func exchange() {
    while true {
      let forth = client.output()
      if !forth.isEmpty { server.receive(forth) }
      let back = server.output()
      if !back.isEmpty { client.receive(back) }
      if forth.isEmpty, back.isEmpty { return }
    }
  }

  package func request(
    _ method: HTTPMethod = .get, _ target: String = "/", fields: [(String, String)] = [], contentLength: Int? = nil,
    hasBody: Bool = false
  ) -> HTTP2Stream? {
    var line = HTTP2RequestLine(method: method, isSecure: false)
    line.authority.append(text: "example.com")
    line.target.append(text: target)
    return client.session.request(
      line, fields: block(fields), contentLength: contentLength, hasBody: hasBody, owner: client)
  }
}

package func block(_ fields: [(String, String)]) -> FieldBlock {
  let block = FieldBlock()
  for (name, value) in fields { block.append(name, value) }
  return block
}

extension Peer {
  package func send(_ text: String, on stream: HTTP2Stream) { send(Array(text.utf8), on: stream) }

  package func send(_ bytes: [UInt8], on stream: HTTP2Stream) {
    var buffer = ByteBuffer(bytes)
    session.send(&buffer, buffer.count, on: stream)
  }

  package func sendNow(_ bytes: [UInt8], on stream: HTTP2Stream) {
    var buffer = ByteBuffer(bytes)
    session.sendNow(&buffer, buffer.count, on: stream)
  }

  package func respond(
    _ stream: HTTP2Stream, _ status: Int = 200, _ fields: [(String, String)] = [], hasBody: Bool = true
  ) {
    session.respond(stream, status: status, fields: block(fields), contentLength: nil, hasBody: hasBody)
  }
}
