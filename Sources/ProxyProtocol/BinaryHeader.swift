import Bytes

/// Version 2: a signature, sixteen bytes of head, addresses, extensions. The extensions are skipped.
enum BinaryHeader {
  static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
  private static let headLength = 16

  static func read(_ bytes: Span<UInt8>) -> ProxyHeader.Outcome {
    for index in 0..<min(signature.count, bytes.count) where bytes[index] != signature[index] { return .absent }
    guard bytes.count >= headLength else { return .needsMore(headLength) }
    guard bytes[12] >> 4 == 2 else { return .malformed("the version is not 2") }
    let length = headLength + Int(number(bytes, at: 14))
    guard length <= ProxyHeader.maximumLength else { return .malformed("the header is too long") }
    guard bytes.count >= length else { return .needsMore(length) }
    switch bytes[12] & 0xF {
    case 0: return .header(ProxyHeader(origin: .proxy, length: length))
    case 1: return read(bytes, family: bytes[13], length: length)
    default: return .malformed("the command is none of LOCAL and PROXY")
    }
  }

  private static func read(_ bytes: Span<UInt8>, family: UInt8, length: Int) -> ProxyHeader.Outcome {
    let width: Int
    switch family {
    case 0x11: width = 4
    case 0x21: width = 16
    // Unspecified, datagrams, UNIX sockets: nothing that could be this connection's address.
    case 0x00, 0x12, 0x22, 0x31, 0x32: return .header(ProxyHeader(origin: .proxy, length: length))
    default: return .malformed("the family is unknown")
    }
    let ports = headLength + 2 * width
    guard length >= ports + 4 else { return .malformed("the addresses are cut off") }
    let origin = ProxyHeader.Origin.client(
      source: .init(address: copy(bytes, headLength, width), port: number(bytes, at: ports)),
      destination: .init(address: copy(bytes, headLength + width, width), port: number(bytes, at: ports + 2)))
    return .header(ProxyHeader(origin: origin, length: length))
  }

  private static func copy(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> [UInt8] {
    (start..<start + count).map { bytes[$0] }
  }

  private static func number(_ bytes: Span<UInt8>, at index: Int) -> UInt16 {
    UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
  }
}
