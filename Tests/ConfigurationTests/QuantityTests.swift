import Diagnostics
import Testing

@testable import Configuration

@Suite struct QuantityTests {
  @Test(arguments: [
    ("250ms", 250), ("5s", 5_000), ("1m", 60_000), ("2h", 7_200_000), ("1.5s", 1_500), ("0.001s", 1), ("0s", 0),
    ("0ms", 0), ("8784h", 31_622_400_000),
  ])
  func readsDurations(_ text: String, _ milliseconds: Int) throws {
    #expect(try Quantity.duration(text) == .milliseconds(milliseconds))
  }

  @Test func aDurationHasMicroseconds() throws { #expect(try Quantity.duration("0.001ms") == .microseconds(1)) }

  @Test(arguments: [
    "", "s", "5", "5S", "5 s", "-5s", "+5s", "5sec", "1.2345s", ".5s", "5.s", "1e3s", "1m30s", "8785h", "٥s", "0x5s",
    "9999999999h", "99999999999999999999s", "5s ", " 5s", "5\u{301}s",
  ])
  func refusesOtherDurations(_ text: String) {
    #expect(throws: QuantityFault.self) { try Quantity.duration(text) }
  }

  @Test(arguments: [
    ("5sec", "write `5s`"), ("5", "write `5s`"), ("5 ms", "write `5ms`"), ("10MIN", "write `10m`"),
    ("x", "write a number and one of the units `ms`, `s`, `m`, `h`, as in `5s`"),
  ])
  func saysWhichDurationWasMeant(_ text: String, _ cure: String) {
    #expect { try Quantity.duration(text) } throws: { ($0 as? QuantityFault)?.cure == cure }
  }

  @Test(arguments: [
    ("0", 0), ("512", 512), ("512B", 512), ("64KiB", 65_536), ("4MiB", 4 << 20), ("1GiB", 1 << 30),
    ("1023GiB", 1023 << 30),
  ])
  func readsSizes(_ text: String, _ bytes: Int) throws { #expect(try Quantity.size(text) == bytes) }

  @Test(arguments: [
    "", "KiB", "64K", "64KB", "64kib", "1.5MiB", "-1", "1024GiB", "999999999999999GiB", "1 KiB", "1TiB",
  ])
  func refusesOtherSizes(_ text: String) {
    #expect(throws: QuantityFault.self) { try Quantity.size(text) }
  }

  @Test(arguments: [(0, "0B"), (100, "100B"), (1024, "1KiB"), (1536, "1536B"), (3 << 20, "3MiB"), (1 << 30, "1GiB")])
  func writesSizes(_ bytes: Int, _ text: String) throws {
    #expect(Quantity.sizeText(bytes) == text)
    #expect(try Quantity.size(text) == bytes)
  }

  @Test(arguments: [
    ("0%", 0), ("1%", 100), ("25%", 2_500), ("0.5%", 50), ("0.01%", 1), ("33.33%", 3_333), ("100%", 10_000),
  ])
  func readsShares(_ text: String, _ parts: Int) throws { #expect(try Quantity.share(text) == parts) }

  @Test(arguments: ["", "%", "25", "0.25", "-1%", "100.01%", "101%", "0.001%", "25 %", "25%%", "1e1%", "99999999999%"])
  func refusesOtherShares(_ text: String) {
    #expect(throws: QuantityFault.self) { try Quantity.share(text) }
  }

  @Test(arguments: [("25", "write `25%`"), ("25 %", "write `25%`")])
  func saysWhichShareWasMeant(_ text: String, _ cure: String) {
    #expect { try Quantity.share(text) } throws: { ($0 as? QuantityFault)?.cure == cure }
  }

  @Test(arguments: [("0.25", "`25%` or `0.25%`"), ("1", "`100%` or `1%`"), ("0.05", "`5%` or `0.05%`")])
  func namesBothSharesThatAFractionMayMean(_ text: String, _ both: String) {
    #expect { try Quantity.share(text) } throws: { ($0 as? QuantityFault)?.cure == "write \(both)" }
  }

  @Test(arguments: ["1234567890123456", "", "1_000", "١", "+1", "1.0"])
  func refusesOtherIntegers(_ text: String) { #expect(Quantity.integer(text) == nil) }
}

@Suite struct AddressTests {
  @Test(arguments: [
    ("::1", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("2001:DB8::1", "2001:db8::1"), ("::ffff:1.2.3.4", "::ffff:1.2.3.4"),
  ])
  func writesIPv6InOneForm(_ text: String, _ canonical: String) { #expect(IPAddress.ipv6(text) == canonical) }

  @Test(arguments: ["", "1.2.3.4", "::1%lo", "[::1]", "1::2::3", ":::"])
  func refusesOtherIPv6(_ text: String) { #expect(IPAddress.ipv6(text) == nil) }

  @Test(arguments: ["", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.5", "1.2.3.4 ", "0x1.2.3.4"])
  func refusesOtherIPv4(_ text: String) { #expect(IPAddress.ipv4(text) == nil) }

  @Test(arguments: [("A.Example", "a.example"), ("localhost", "localhost"), ("a_b.c-d", "a_b.c-d"), ("1.a", "1.a")])
  func readsNames(_ text: String, _ name: String) { #expect(IPAddress.hostName(text) == name) }

  @Test(arguments: [
    "", ".", "a.", "a..b", "-a", "a-", "a b", "10.0.0.999", "a.1", "bücher.example", String(repeating: "a", count: 64),
    String(repeating: "a.", count: 127),
  ])
  func refusesOtherNames(_ text: String) { #expect(IPAddress.hostName(text) == nil) }

  @Test(arguments: [
    ("http://a", "a", 80, "a"), ("http://A:8081/", "a", 8081, "a:8081"), ("HTTP://[::1]:80", "::1", 80, "[::1]"),
    ("http://[::1]:1", "::1", 1, "[::1]:1"), ("http://10.0.0.2:65535", "10.0.0.2", 65_535, "10.0.0.2:65535"),
  ])
  func readsEndpoints(_ text: String, _ host: String, _ port: Int, _ authority: String) throws {
    let endpoint = try EndpointURL.parse(text, at: SourcePosition(file: "f", line: 1, column: 1))
    #expect(endpoint.host == host)
    #expect(Int(endpoint.port) == port)
    #expect(endpoint.authority == authority)
  }

  @Test(arguments: [
    ("https://a", 443, "a"), ("HTTPS://A:443/", 443, "a"), ("https://a:80", 80, "a:80"),
    ("https://[::1]", 443, "[::1]"),
  ])
  func readsEndpointsWithTLS(_ text: String, _ port: Int, _ authority: String) throws {
    let position = SourcePosition(file: "f", line: 1, column: 1)
    let endpoint = try EndpointURL.parse(text, at: position)
    #expect(endpoint.isSecure)
    #expect(Int(endpoint.port) == port)
    #expect(endpoint.authority == authority)
    #expect(try !EndpointURL.parse("http://a:443", at: position).isSecure)
  }

  @Test(arguments: [
    "", "a", "://a", "http:/a", "http://", "http://:80", "http://a:", "http://a:0", "http://a:65536", "http://a:+1",
    "http://a/b", "http://a?b", "http://a#b", "http://u@a", "http://[::1", "http://::1", "http://[a]", "http://[::1]x",
    "https://a:0", "https://u@a", "https://", "httpss://a", "h2c://a", "http://a:1:2", "http:// a",
  ])
  func refusesOtherEndpoints(_ text: String) {
    #expect(throws: QuantityFault.self) {
      try EndpointURL.parse(text, at: SourcePosition(file: "f", line: 1, column: 1))
    }
  }

  @Test(arguments: [
    ("a.yaml", "x", "x"), ("./a.yaml", "x", "./x"), ("/etc/a.yaml", "x/y", "/etc/x/y"), ("/a.yaml", "x", "/x"),
    ("conf/a.yaml", "/x", "/x"), ("conf/a.yaml", "../x", "conf/../x"),
  ])
  func resolvesPaths(_ file: String, _ path: String, _ resolved: String) {
    #expect(FilePath.resolve(path, from: file) == resolved)
  }
}
