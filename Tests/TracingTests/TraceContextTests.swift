import Bytes
import Testing

@testable import Tracing

@Suite struct TraceContextTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  private static func parse(_ text: String) -> TraceContext? { TraceContext(traceparent: Array(text.utf8).span) }

  private static func text(_ context: TraceContext) -> String {
    var output = ByteBuffer()
    context.write(into: &output)
    return output.withSpan { String(repairing: $0) }
  }

  @Test func whatIsWrittenIsRead() throws {
    let sampled = try #require(Self.parse("00-\(Self.trace)-\(Self.span)-01"))
    #expect(sampled.isSampled && sampled.span == 0x00f0_67aa_0ba9_02b7)
    #expect(sampled.traceHigh == 0x4bf9_2f35_77b3_4da6 && sampled.traceLow == 0xa3ce_929d_0e0e_4736)
    #expect(Self.text(sampled) == "00-\(Self.trace)-\(Self.span)-01")
    let other = try #require(Self.parse("00-\(Self.trace)-\(Self.span)-00"))
    #expect(Self.text(other) == "00-\(Self.trace)-\(Self.span)-00")
    // Other flags are nobody's yet.
    #expect(Self.parse("00-\(Self.trace)-\(Self.span)-fe")?.isSampled == false)
    #expect(Self.parse("00-\(Self.trace)-\(Self.span)-ff")?.isSampled == true)
  }

  @Test func laterVersionsMayHaveMore() {
    #expect(Self.parse("cc-\(Self.trace)-\(Self.span)-01") != nil)
    #expect(Self.parse("cc-\(Self.trace)-\(Self.span)-01-what-the-future-will-be-like") != nil)
    #expect(Self.parse("cc-\(Self.trace)-\(Self.span)-01.what") == nil)
    #expect(Self.parse("00-\(Self.trace)-\(Self.span)-01-more") == nil)
    #expect(Self.parse("ff-\(Self.trace)-\(Self.span)-01") == nil)
  }

  @Test(
    arguments: [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-0x", "00_\(trace)-\(span)-01",
      "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
      "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
      "00-\(trace.dropLast())g-\(span)-01", "00-\(trace.dropLast())-\(span)-011", " 00-\(trace)-\(span)-01",
      "0-\(trace)-\(span)-001",
    ])
  func whatIsNone(text: String) { #expect(Self.parse(text) == nil) }

  @Test(
    arguments: [
      ("a=1", true), ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true), ("a=1, b=2 ,,\tc=3", true), ("", true),
      ("t@v=x=y", true), ("a", false), ("=1", false), ("a=", false), ("a=\u{e9}", false), ("a=1,b", false),
      (String(repeating: "a=1,", count: 32), true), (String(repeating: "a=1,", count: 33), false),
      ("a=" + String(repeating: "x", count: 1100), false),
    ])
  func whatVendorsMayAdd(text: String, isGood: Bool) {
    var members = 0
    #expect(TraceState.isAcceptable(Array(text.utf8).span, members: &members) == isGood)
  }

  @Test func shareOfTraces() {
    var source = TraceIDSource()
    for (share, range) in [(0, 0...0), (1000, 800...1200), (5000, 4700...5300), (10_000, 10_000...10_000)] {
      let sampler = TraceSampler(share: share, followsParents: true)
      var taken = 0
      for _ in 0..<10_000 {
        let context = TraceContext(traceHigh: source.next(), traceLow: source.next(), span: 1, isSampled: false)
        if sampler.samples(context, hasParent: false) { taken += 1 }
      }
      #expect(range.contains(taken), "\(share): \(taken)")
    }
  }

  @Test func aCallersChoiceIsFollowedOrNot() {
    let yes = TraceContext(traceHigh: 1, traceLow: .max, span: 1, isSampled: true)
    let no = TraceContext(traceHigh: 1, traceLow: 0, span: 1, isSampled: false)
    #expect(TraceSampler(share: 0, followsParents: true).samples(yes, hasParent: true))
    #expect(!TraceSampler(share: 10_000, followsParents: true).samples(no, hasParent: true))
    #expect(!TraceSampler(share: 0, followsParents: false).samples(yes, hasParent: true))
    #expect(TraceSampler(share: 10_000, followsParents: false).samples(no, hasParent: true))
  }

  /// Whoever samples less takes a part of what others take, by the id alone.
  @Test func smallerSharesAreParts() {
    var source = TraceIDSource()
    let (few, many) = (
      TraceSampler(share: 500, followsParents: true), TraceSampler(share: 2000, followsParents: true)
    )
    for _ in 0..<5000 {
      let context = TraceContext(traceHigh: source.next(), traceLow: source.next(), span: 1, isSampled: false)
      if few.samples(context, hasParent: false) { #expect(many.samples(context, hasParent: false)) }
    }
  }

  @Test func idsAreDifferent() {
    var source = TraceIDSource()
    #expect(Set((0..<10_000).map { _ in source.next() }).count == 10_000)
    var other = TraceIDSource()
    #expect(source.next() != other.next())
  }
}
