import RandomnessTestSupport
import Testing

@testable import ProxyProtocol

@Suite struct ProxyHeaderTests {
  typealias Endpoint = ProxyHeader.Endpoint

  static func client(_ source: Endpoint, _ destination: Endpoint, _ length: Int) -> ProxyHeader.Outcome {
    .header(ProxyHeader(origin: .client(source: source, destination: destination), length: length))
  }

  static func proxy(_ length: Int) -> ProxyHeader.Outcome {
    .header(ProxyHeader(origin: .proxy, length: length))
  }

  static func read(_ bytes: [UInt8]) -> ProxyHeader.Outcome { ProxyHeader.read(bytes.span) }
  static func read(_ text: String) -> ProxyHeader.Outcome { read(Array(text.utf8)) }

  /// A version 2 header with this behind its sixteen bytes.
  static func binary(command: UInt8, family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
    let length = length ?? rest.count
    return BinaryHeader.signature + [0x20 | command, family, UInt8(length >> 8), UInt8(length & 255)] + rest
  }

  static let four = Endpoint(address: [192, 0, 2, 1], port: 56324)
  static let fourHere = Endpoint(address: [192, 0, 2, 9], port: 443)
  static let six = Endpoint(address: [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1], port: 1)
  static let sixHere = Endpoint(address: [UInt8](repeating: 0, count: 15) + [1], port: 65535)
  static let fourBytes: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 9, 0xDC, 0x04, 0x01, 0xBB]

  @Test func aLineTellsTheClient() {
    let line = "PROXY TCP4 192.0.2.1 192.0.2.9 56324 443\r\n"
    #expect(Self.read(line + "GET / HTTP/1.1\r\n") == Self.client(Self.four, Self.fourHere, line.utf8.count))
    let six = "PROXY TCP6 2001:db8::1 ::1 1 65535\r\n"
    #expect(Self.read(six) == Self.client(Self.six, Self.sixHere, six.utf8.count))
  }

  @Test func aProxyMaySpeakForItself() {
    #expect(Self.read("PROXY UNKNOWN\r\n") == Self.proxy(15))
    let told = "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n"
    #expect(Self.read(told) == Self.proxy(told.utf8.count))
    #expect(Self.read(Self.binary(command: 0, family: 0, [])) == Self.proxy(16))
    // A LOCAL header may have anything behind it.
    #expect(Self.read(Self.binary(command: 0, family: 0x77, [1, 2, 3])) == Self.proxy(19))
    for family: UInt8 in [0x00, 0x12, 0x22, 0x31, 0x32] {
      #expect(Self.read(Self.binary(command: 1, family: family, Self.fourBytes)) == Self.proxy(28))
    }
  }

  @Test func sixteenBytesAndAddressesTellTheClient() {
    let header = Self.binary(command: 1, family: 0x11, Self.fourBytes)
    #expect(Self.read(header + Array("GET /".utf8)) == Self.client(Self.four, Self.fourHere, 28))
    let six = Self.six.address + Self.sixHere.address + [0, 1, 255, 255]
    #expect(Self.read(Self.binary(command: 1, family: 0x21, six)) == Self.client(Self.six, Self.sixHere, 52))
  }

  @Test func extensionsAreSkipped() {
    let more = Self.fourBytes + [0x04, 0, 3, 0, 0, 0] + [0xEA, 0, 2, 1, 2]
    #expect(Self.read(Self.binary(command: 1, family: 0x11, more)) == Self.client(Self.four, Self.fourHere, 39))
  }

  @Test(
    arguments: [
      "PROXY TCP4 192.0.2.1 192.0.2.9 56324\r\n", "PROXY TCP4 192.0.2.1 192.0.2.9 56324 443 1\r\n",
      "PROXY TCP4  192.0.2.1 192.0.2.9 56324 443\r\n", "PROXY TCP4 192.0.2.1 192.0.2.9 56324 65536\r\n",
      "PROXY TCP4 192.0.2.1 192.0.2.9 056324 443\r\n", "PROXY TCP4 192.0.2.1 192.0.2.9 -1 443\r\n",
      "PROXY TCP4 192.0.2.1 192.0.2.9 +1 443\r\n", "PROXY TCP4 2001:db8::1 ::1 1 2\r\n",
      "PROXY TCP6 192.0.2.1 192.0.2.9 1 2\r\n", "PROXY TCP4 192.0.2.1.5 192.0.2.9 1 2\r\n",
      "PROXY TCP4 192.0.2.1 192.0.2.9 1 2\n", "PROXY \r\n", "PROXY\u{20}\n", "PROXY UDP4 192.0.2.1 192.0.2.9 1 2\r\n",
      "PROXY TCP4 192.0.2.1\u{0} 192.0.2.9 1 2\r\n", "PROXY " + String(repeating: "x", count: 101),
    ])
  func linesThatAreNone(line: String) {
    guard case .malformed = Self.read(line) else {
      Issue.record("\(line) is \(Self.read(line))")
      return
    }
  }

  @Test func bytesThatAreNone() {
    let headers = [
      BinaryHeader.signature + [0x11, 0x11, 0, 12] + Self.fourBytes,
      Self.binary(command: 2, family: 0x11, Self.fourBytes),
      Self.binary(command: 1, family: 0x41, Self.fourBytes), Self.binary(command: 1, family: 0x11, [1, 2, 3]),
      Self.binary(command: 1, family: 0x21, Self.fourBytes),
      Self.binary(command: 1, family: 0x11, [], length: ProxyHeader.maximumLength),
    ]
    for header in headers {
      guard case .malformed = Self.read(header) else {
        Issue.record("\(header) is \(Self.read(header))")
        continue
      }
    }
  }

  @Test(arguments: ["GET / HTTP/1.1", "PRI * HTTP/2.0", "PROXY2 ", "\u{16}\u{3}\u{1}", "\r\n\r\nGET", "P", "PROX"])
  func whatBeginsOtherwise(text: String) {
    let outcome = Self.read(text)
    let isPrefix = "PROXY ".hasPrefix(text) || "\r\n\r\n".hasPrefix(text)
    #expect(isPrefix ? outcome == .needsMore(text.utf8.count + 1) : outcome == .absent)
  }

  /// However a header comes in pieces, nothing is decided before it is whole, and what is asked for is never more than
  /// what it has.
  @Test func everySplit() {
    let headers = [
      Array("PROXY TCP4 192.0.2.1 192.0.2.9 56324 443\r\n".utf8), Array("PROXY UNKNOWN\r\n".utf8),
      Self.binary(command: 1, family: 0x11, Self.fourBytes + [0x04, 0, 3, 0, 0, 0]),
      Self.binary(command: 0, family: 0, []),
    ]
    for header in headers {
      for count in 0..<header.count {
        guard case .needsMore(let wanted) = Self.read(Array(header.prefix(count))) else {
          Issue.record("\(header.prefix(count)) is \(Self.read(Array(header.prefix(count))))")
          return
        }
        #expect(wanted > count && wanted <= header.count)
      }
      guard case .header(let read) = Self.read(header + [1, 2, 3]) else {
        Issue.record("\(header) is none")
        return
      }
      #expect(read.length == header.count)
    }
  }

  /// A header with some bytes changed is read or refused, and what is asked for grows.
  @Test func damagedHeadersAskForNoMoreThanTheLimit() {
    var random = SeededGenerator(seed: 4)
    let headers = [
      Array("PROXY TCP6 2001:db8::1 ::1 1 65535\r\n".utf8), Self.binary(command: 1, family: 0x11, Self.fourBytes),
    ]
    for _ in 0..<20_000 {
      var bytes = headers[Int.random(in: 0...1, using: &random)]
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] = .random(in: 0...255, using: &random)
      }
      bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
      switch Self.read(bytes) {
      case .needsMore(let count): #expect(count > bytes.count && count <= ProxyHeader.maximumLength)
      case .header(let header): #expect(header.length <= bytes.count)
      case .absent, .malformed: break
      }
    }
  }
}
