import ProtoJSON

/// The documents of one size: the JSON of clients, and the wire bytes of servers.
struct Corpus {
  var json: [[UInt8]] = []
  /// The same messages, fields in order, as libprotobuf serialises them.
  var wire: [[UInt8]] = []

  enum Fault: Error {
    case differs(document: Int, what: String)
  }

  /// Makes the documents, and checks that both codecs make the same message of each and read each other's JSON.
  init(_ size: SizeClass, seed: UInt64, _ subject: inout Subject, _ peer: borrowing Peer) throws {
    var maker = ShipmentMaker(seed: seed &* 31 &+ UInt64(size.bytes))
    for number in 0..<size.count {
      let text = size.document(&maker)
      let theirs = try Self.known(peer.bytes(.decode, text), number, peer)
      let canonical = try Self.known(peer.bytes(.canonical, theirs), number, peer)
      try Self.check(subject.bytes(.decode, text), canonical, number, "wire bytes", peer)
      let written = try subject.bytes(.encode, canonical)
      try Self.check(Self.known(peer.bytes(.decode, written), number, peer), canonical, number, "JSON", peer)
      let theirText = try Self.known(peer.bytes(.encode, canonical), number, peer)
      try Self.check(subject.bytes(.decode, theirText), canonical, number, "wire bytes of the peer's JSON", peer)
      json.append(text)
      wire.append(canonical)
    }
  }

  private static func known(_ bytes: [UInt8]?, _ number: Int, _ peer: borrowing Peer) throws -> [UInt8] {
    guard let bytes else { throw Fault.differs(document: number, what: peer.fault) }
    return bytes
  }

  private static func check(
    _ wire: [UInt8], _ canonical: [UInt8], _ number: Int, _ what: String, _ peer: borrowing Peer
  ) throws {
    guard try known(peer.bytes(.canonical, wire), number, peer) == canonical else {
      throw Fault.differs(document: number, what: "the \(what) are of another message")
    }
  }
}
