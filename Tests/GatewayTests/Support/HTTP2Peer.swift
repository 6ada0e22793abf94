import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// Our own session on a raw connection: a client of the gateway, or an upstream behind it.
final class HTTP2Peer {
  let raw: RawClient
  let peer: Peer

  init(_ raw: RawClient, _ role: HTTP2Session.Role, _ settings: HTTP2Settings = HTTP2Settings()) throws {
    self.raw = raw
    peer = try #require(Peer(role, settings))
    flush()
  }

  var events: [String] { peer.events }

  func flush() {
    let bytes = peer.output()
    if !bytes.isEmpty { raw.send(bytes) }
  }

  /// Reads until something is so; false when the connection ended before.
  @discardableResult
  func wait(_ condition: (Peer) -> Bool) -> Bool {
    flush()
    while !condition(peer) {
      let bytes = raw.receiveSome()
      if bytes.isEmpty { return condition(peer) }
      peer.receive(bytes)
      flush()
    }
    return true
  }

  // MARK: As a client

  func request(
    _ method: HTTPMethod = .get, _ target: String, fields: [(String, String)] = [], contentLength: Int? = nil,
    hasBody: Bool = false
  ) throws -> HTTP2Stream {
    var line = HTTP2RequestLine(method: method, isSecure: false)
    line.authority.append(text: "gateway.test")
    line.target.append(text: target)
    let stream = peer.session.request(
      line, fields: block(fields), contentLength: contentLength, hasBody: hasBody, owner: peer)
    flush()
    return try #require(stream)
  }

  /// Waits for the whole answer.
  func answer(_ stream: HTTP2Stream) -> (status: Int, body: String) {
    wait { $0.closes[stream.id] != nil }
    return (stream.hasReceivedEnd ? stream.response.status : 0, peer.body(stream))
  }

  // MARK: As an upstream

  /// The nth request, when it is whole.
  func exchange(_ number: Int) throws -> HTTP2Stream {
    wait { $0.streams.count > number && $0.streams[number].hasReceivedEnd }
    try #require(peer.streams.count > number)
    return peer.streams[number]
  }

  func answer(_ stream: HTTP2Stream, _ status: Int = 200, json: String, trailers: [(String, String)] = []) {
    peer.respond(stream, status, [("content-type", "application/json")])
    peer.send(json, on: stream)
    peer.session.end(stream, trailers: block(trailers))
    flush()
  }
}

extension TestGateway {
  func http2(_ settings: HTTP2Settings = HTTP2Settings(), receiveBuffer: CInt? = nil) throws -> HTTP2Peer {
    try HTTP2Peer(client(receiveBuffer: receiveBuffer), .client, settings)
  }
}
