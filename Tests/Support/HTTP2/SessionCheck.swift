import Bytes
import HTTP2
import HTTPModel

/// What must hold for a session whatever its peer sends: for the fuzzer, and for the files that it started from or found.
///
/// The first byte of the input says which side is fed, and whether the usual beginning comes first; the second how the
/// rest is cut.
package struct SessionCheck {
  /// What does not hold; nil when all does.
  package private(set) var fault: String?
  /// What was seen, to compare and to show.
  package private(set) var events: [String] = []

  private static let client: UInt8 = 1
  private static let bare: UInt8 = 2
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  package init(_ input: [UInt8]) {
    guard input.count >= 2 else { return }
    var bytes = Array(input.dropFirst(2))
    let role: HTTP2Session.Role = input[0] & Self.client != 0 ? .client : .server
    if input[0] & Self.bare == 0 { bytes = (role == .server ? Self.preface : []) + Self.settings + bytes }
    guard let whole = Self.peer(role, bytes, pieces: [bytes.count]),
      let split = Self.peer(role, bytes, pieces: Self.pieces(bytes.count, seed: input[1]))
    else {
      fault = "no session"
      return
    }
    events = whole.peer.events + whole.peer.faults.map(\.rawValue)
    // Where the last stream and a GOAWAY end a session in peace, it reads no more: in one piece, what came with that end
    // is still read, and may be a request or a fault.
    let ended = split.peer.session.isFinished && split.peer.session.failure == nil
    if ended ? !whole.peer.events.starts(with: split.peer.events) : whole.peer.events != split.peer.events {
      fault = "whole \(events), in pieces \(split.peer.events) \(split.peer.faults)"
    } else if !ended, whole.peer.session.isFinished != split.peer.session.isFinished {
      fault = "only one of two that read the same is at its end"
    } else if !ended, !whole.peer.session.isFinished, whole.peer.faults != split.peer.faults {
      // What comes behind the end, or is called by another name when it ends the connection, changes nothing.
      fault = "whole \(events), in pieces \(split.peer.faults)"
    } else if !ended, !whole.peer.session.isFinished, whole.output != split.output {
      fault = "other bytes are sent when the input comes in pieces"
    } else {
      fault = Self.check(whole.peer) ?? Self.check(whole.output, whole.peer)
    }
    for run in [whole, split] { run.peer.release(run.asked) }
  }

  /// Sizes that follow from the seed alone.
  private static func pieces(_ count: Int, seed: UInt8) -> [Int] {
    var state = UInt64(seed) | 1
    var pieces: [Int] = []
    var left = count
    while left > 0 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let piece = Swift.min(left, 1 + Int((state >> 33) % (seed < 128 ? 7 : 200)))
      pieces.append(piece)
      left -= piece
    }
    return pieces
  }

  private static func peer(
    _ role: HTTP2Session.Role, _ bytes: [UInt8], pieces: [Int]
  ) -> (peer: Peer, output: [UInt8], asked: [HTTP2Stream])? {
    guard let peer = Peer(role) else { return nil }
    var asked: [HTTP2Stream] = []
    peer.onEnd = { peer, stream in
      guard role == .server else { return }
      peer.respond(stream, 200, [("Content-Type", "text/plain"), ("set-cookie", "a=b")])
      peer.send("answer", on: stream)
      peer.session.end(stream, trailers: block([("x-trailer", "1")]))
    }
    var output: [UInt8] = []
    if role == .client {
      for (method, body) in [(HTTPMethod.get, nil), (.post, "body"), (.head, nil)] as [(HTTPMethod, String?)] {
        var line = HTTP2RequestLine(method: method, isSecure: false)
        line.authority.append(text: "example.com")
        line.target.append(text: "/")
        let stream = peer.session.request(
          line, fields: block([("x-one", "1")]), contentLength: nil, hasBody: body != nil, owner: peer)
        guard let stream else { return nil }
        asked.append(stream)
        if let body {
          peer.send(body, on: stream)
          peer.session.end(stream, trailers: nil)
        }
      }
      output = peer.output()
    }
    var start = 0
    for piece in pieces {
      peer.receive(Array(bytes[start..<start + piece]))
      start += piece
    }
    output += peer.output()
    return (peer, output, asked)
  }

  /// What goes on from here must be one message for whoever reads it next.
  private static func check(_ peer: Peer) -> String? {
    let session = peer.session
    if session.openStreams > 200 { return "\(session.openStreams) streams are open" }
    if session.failure != nil, !session.isFinished { return "a session at fault does not end" }
    guard session.role == .server else { return nil }
    for stream in peer.streams {
      let head = stream.request
      let target = Array(head.targetText.utf8)
      guard target.first == UInt8(ascii: "/") || head.method == .options && target == [UInt8(ascii: "*")] else {
        return "the target \(head.targetText) went on"
      }
      if target.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "#") }) {
        return "the target \(target) went on"
      }
      if !FieldSyntax.isToken(Array(head.method.name.utf8).span) { return "the method \(head.method.name) went on" }
      if head.authority.isEmpty { return "a request without authority went on" }
      if let fault = check(head.fields) { return fault }
      // Those of a refused section are half read.
      if !stream.isFaulty, let fault = check(stream.trailers) { return fault }
      let isWhole = stream.hasReceivedEnd && !stream.isFaulty
      if isWhole, let length = stream.contentLength, length != peer.bodies[stream.id]?.count ?? 0 {
        return "a body of another length than \(length) is whole"
      }
    }
    return nil
  }

  private static func check(_ fields: FieldBlock) -> String? {
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      let isLegal =
        fields.withName(at: index) { FieldSyntax.isToken($0) }
        && fields.withValue(at: index) { FieldSyntax.isValue($0) }
      if !isLegal { return "the field \(fields.name(at: index)): \(fields.text(at: index)) went on" }
      switch fields.entry(at: index).name {
      case .connection, .transferEncoding, .keepAlive, .upgrade, .proxyConnection:
        return "the field \(fields.name(at: index)) went on"
      default: break
      }
    }
    for name in [FieldName.host, .cookie] where fields.count(of: name) > 1 { return "two fields of \(name) went on" }
    return nil
  }

  /// What is sent must be whole frames, and one GOAWAY at most for a fault.
  private static func check(_ output: [UInt8], _ peer: Peer) -> String? {
    var rest = output[...]
    if peer.session.role == .client {
      guard rest.starts(with: preface) else { return "no preface was sent" }
      rest = rest.dropFirst(preface.count)
    }
    var goAways = 0
    while !rest.isEmpty {
      guard rest.count >= 9 else { return "half a frame was sent" }
      let head = Array(rest.prefix(9))
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      guard rest.count >= 9 + length else { return "half a frame was sent" }
      if head[3] == 7 { goAways += 1 }
      rest = rest.dropFirst(9 + length)
    }
    if goAways > 1 { return "\(goAways) GOAWAY frames were sent" }
    if peer.session.failure != nil, goAways == 0 { return "the connection ended without a word" }
    return nil
  }
}
