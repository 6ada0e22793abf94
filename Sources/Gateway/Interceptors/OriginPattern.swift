import Bytes

/// A pattern of origins: `https://*.example.com`, `http://localhost:*`. It is compared as a whole.
///
/// A `*` is one or more characters of a host name, dots too; in place of a port it is one or more digits. So it never
/// reaches over the scheme, the host or the port that stand beside it.
struct OriginPattern: Sendable {
  /// What stands between the wildcards of scheme and host.
  private let pieces: [[UInt8]]
  private let allowsAnyPort: Bool

  /// Longer ones no browser sends: a host has 253 bytes.
  private static let longest = 320

  init(_ text: String) {
    allowsAnyPort = text.hasSuffix(":*")
    let rest = allowsAnyPort ? text.dropLast(2) : text[...]
    pieces = rest.split(separator: "*", omittingEmptySubsequences: false).map { Array($0.utf8) }
  }

  func matches(_ origin: Span<UInt8>) -> Bool {
    guard origin.count <= Self.longest, let first = pieces.first, let last = pieces.last else { return false }
    var end = origin.count
    if allowsAnyPort {
      while end > 0, ASCII.isDigit(origin[end - 1]) { end -= 1 }
      guard end > 0, end < origin.count, origin[end - 1] == UInt8(ascii: ":") else { return false }
      end -= 1
    }
    guard Self.begins(origin, with: first, at: 0, end) else { return false }
    if pieces.count == 1 { return end == first.count }
    // The first place for each piece leaves the most for the rest, so nothing has to be tried twice.
    var at = first.count
    for piece in pieces.dropFirst().dropLast() {
      guard let next = Self.next(piece, in: origin, from: at + 1, end) else { return false }
      guard Self.isHost(origin, at..<next) else { return false }
      at = next + piece.count
    }
    let tail = end - last.count
    return tail > at && Self.begins(origin, with: last, at: tail, end) && Self.isHost(origin, at..<tail)
  }

  private static func begins(_ text: Span<UInt8>, with piece: [UInt8], at start: Int, _ end: Int) -> Bool {
    guard start >= 0, start + piece.count <= end else { return false }
    for index in piece.indices where text[start + index] != piece[index] { return false }
    return true
  }

  private static func next(_ piece: [UInt8], in text: Span<UInt8>, from start: Int, _ end: Int) -> Int? {
    var at = start
    while at + piece.count <= end {
      if begins(text, with: piece, at: at, end) { return at }
      at += 1
    }
    return nil
  }

  private static func isHost(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in range {
      let byte = text[index]
      guard ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else { return false }
    }
    return true
  }
}
