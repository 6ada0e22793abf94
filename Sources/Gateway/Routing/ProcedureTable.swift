import Bytes

/// Finds a procedure by its path without making a String: an open-addressed table over all paths of a group.
struct ProcedureTable: Sendable {
  private struct Slot {
    var hash: UInt64
    var path: [UInt8]
    var route: Int
  }

  private var slots: [Slot?]
  private let mask: Int

  /// - Parameter paths: unique paths (prefix included) and the route each leads to.
  init(_ paths: [(path: String, route: Int)]) {
    var size = 8
    while size < paths.count * 2 { size *= 2 }
    mask = size - 1
    slots = Array(repeating: nil, count: size)
    for (path, route) in paths {
      let bytes = Array(path.utf8)
      let hash = Self.hash(bytes.span)
      var at = Int(truncatingIfNeeded: hash) & mask
      while slots[at] != nil { at = (at + 1) & mask }
      slots[at] = Slot(hash: hash, path: bytes, route: route)
    }
  }

  func route(for path: Span<UInt8>) -> Int? {
    let hash = Self.hash(path)
    var at = Int(truncatingIfNeeded: hash) & mask
    while let slot = slots[at] {
      if slot.hash == hash, ASCII.equal(slot.path.span, path) { return slot.route }
      at = (at + 1) & mask
    }
    return nil
  }

  /// FNV-1a: the keys are the operator's, so nobody can choose colliding ones to any harm.
  private static func hash(_ bytes: Span<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
    return hash ^ (hash >> 32)
  }
}
