import Bytes
import Compression
import Testing

@Suite("Accept-Encoding")
struct AcceptEncodingTests {
  private static let all: [ContentCoding] = [.zstd, .br, .gzip]

  @Test(
    arguments: [
      ([String](), ContentCoding.identity),
      ([""], .identity),
      (["gzip"], .gzip),
      (["GZip"], .gzip),
      (["x-gzip"], .gzip),
      (["deflate, gzip, br, zstd"], .zstd),
      (["gzip", "br"], .br),
      (["gzip;q=0.9, br;q=0.8, zstd;q=0.7"], .gzip),
      (["gzip ; q=1.000 ,br;Q=0.999"], .gzip),
      (["gzip;q=0"], .identity),
      (["gzip;q=0, *"], .zstd),
      (["zstd;q=0, br;q=0.0, *;q=0.1"], .gzip),
      (["*;q=0"], nil),
      (["identity;q=0"], nil),
      (["identity;q=0, deflate"], nil),
      (["identity;q=0, gzip;q=0.001"], .gzip),
      (["*;q=0, identity"], .identity),
      (["*;q=0, gzip"], .gzip),
      (["*"], .zstd),
      (["identity, gzip;q=0.5"], .identity),
      (["identity, gzip"], .gzip),
      (["identity;q=0.5, gzip;q=0.5"], .gzip),
      (["deflate"], .identity),
      (["gzip;q=2, br;q=x, zstd;q="], .identity),
      (["gzip;q=1.001"], .identity),
      (["gzip;q=0.1234"], .identity),
      (["gzip;q=1x1"], .identity),
      (["gzip;foo=bar;q=0.5, br;q=0.4"], .gzip),
      (["gzip;;"], .gzip),
      (["gzip;q=0, gzip;q=1"], .gzip),
      ([",,gzip,,"], .gzip),
      (["gzipx, ;q=1, ="], .identity),
    ] as [([String], ContentCoding?)])
  func chosen(values: [String], expected: ContentCoding?) {
    #expect(AcceptEncoding.choose(values, from: Self.all) == expected)
  }

  @Test func onlyWhatCanBeWritten() {
    #expect(AcceptEncoding.choose(["zstd, gzip;q=0.1"], from: [.gzip]) == .gzip)
    #expect(AcceptEncoding.choose(["zstd"], from: [.gzip]) == .identity)
    #expect(AcceptEncoding.choose(["gzip"], from: []) == .identity)
    #expect(AcceptEncoding.choose(["identity;q=0, gzip"], from: []) == nil)
    #expect(AcceptEncoding.choose(["gzip"], from: [.identity, .gzip]) == .gzip)
  }

  @Test(
    arguments: [
      ("gzip", ContentCoding.gzip), ("X-GZIP", .gzip), ("Br", .br), ("ZSTD", .zstd), ("identity", .identity),
      ("", nil), ("deflate", nil), ("gzip ", nil), ("gzip, br", nil),
    ] as [(String, ContentCoding?)])
  func names(name: String, expected: ContentCoding?) {
    #expect(ContentCoding(name: Array(name.utf8).span) == expected)
  }
}
