import Bytes
import Glibc

/// Version 1: `PROXY TCP4 192.0.2.1 192.0.2.9 56324 443`, a line.
enum TextHeader {
  /// With its line end.
  private static let maximumLength = 107
  private static let prefix = Array("PROXY ".utf8)

  static func read(_ bytes: Span<UInt8>) -> ProxyHeader.Outcome {
    for index in 0..<min(prefix.count, bytes.count) where bytes[index] != prefix[index] { return .absent }
    guard let end = lineEnd(bytes) else {
      if bytes.count >= maximumLength { return .malformed("the line has no end") }
      return .needsMore(bytes.count + 1)
    }
    guard end > prefix.count, bytes[end - 1] == UInt8(ascii: "\r") else { return .malformed("the line has no CR LF") }
    let words = self.words(bytes.extracting(prefix.count..<end - 1))
    let length = end + 1
    // What follows the word is for people.
    if words.first == "UNKNOWN" { return .header(ProxyHeader(origin: .proxy, length: length)) }
    let width: Int
    switch words.first {
    case "TCP4": width = 4
    case "TCP6": width = 16
    default: return .malformed("the family is none of TCP4, TCP6, UNKNOWN")
    }
    guard words.count == 5 else { return .malformed("the line has no two addresses and two ports") }
    guard let source = address(words[1], width), let destination = address(words[2], width) else {
      return .malformed("an address is none of its family")
    }
    guard let sourcePort = port(words[3]), let destinationPort = port(words[4]) else {
      return .malformed("a port is no number from 0 to 65535")
    }
    let origin = ProxyHeader.Origin.client(
      source: .init(address: source, port: sourcePort),
      destination: .init(address: destination, port: destinationPort))
    return .header(ProxyHeader(origin: origin, length: length))
  }

  private static func lineEnd(_ bytes: Span<UInt8>) -> Int? {
    for index in 0..<min(bytes.count, maximumLength) where bytes[index] == UInt8(ascii: "\n") { return index }
    return nil
  }

  /// What stands between single blanks.
  private static func words(_ line: Span<UInt8>) -> [String] {
    String(repairing: line).split(separator: " ", maxSplits: 8, omittingEmptySubsequences: false).map(String.init)
  }

  private static func address(_ text: String, _ width: Int) -> [UInt8]? {
    if text.utf8.contains(0) { return nil }
    var bytes = [UInt8](repeating: 0, count: width)
    let result = unsafe bytes.withUnsafeMutableBytes { room in
      unsafe inet_pton(width == 4 ? AF_INET : AF_INET6, text, room.baseAddress)
    }
    return result == 1 ? bytes : nil
  }

  /// Without leading zeros.
  private static func port(_ text: String) -> UInt16? {
    guard text.utf8.allSatisfy(ASCII.isDigit), text == "0" || !text.hasPrefix("0") else { return nil }
    return UInt16(text)
  }
}
