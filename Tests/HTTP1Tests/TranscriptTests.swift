import HTTP1
import HTTP1TestSupport
import Testing

@Suite("Whole messages")
struct TranscriptTests {
  @Test("means what it says", arguments: Fixture.all)
  func whole(_ fixture: Fixture) {
    #expect(ConnectionTranscript.of(fixture.side, fixture.bytes) == fixture.lines)
  }

  @Test("means the same byte by byte", arguments: Fixture.all)
  func byteWise(_ fixture: Fixture) {
    #expect(ConnectionTranscript.byteWise(fixture.side, fixture.bytes) == fixture.lines)
  }

  @Test("means the same cut in two anywhere", arguments: Fixture.all)
  func everySplit(_ fixture: Fixture) {
    let bytes = fixture.bytes
    for split in bytes.indices {
      #expect(
        ConnectionTranscript.of(fixture.side, [bytes[..<split], bytes[split...]]) == fixture.lines, "split at \(split)")
    }
  }

  @Test("a refusal is the same at every split and byte by byte", arguments: Refusal.all)
  func refusals(_ refusal: Refusal) {
    let bytes = refusal.bytes
    let whole = ConnectionTranscript.of(refusal.side, bytes, limits: refusal.limits)
    #expect(whole.last == "refused \(refusal.kind)")
    #expect(ConnectionTranscript.byteWise(refusal.side, bytes, limits: refusal.limits) == whole)
    guard bytes.count < 1_000 else { return }
    for split in bytes.indices {
      #expect(
        ConnectionTranscript.of(refusal.side, [bytes[..<split], bytes[split...]], limits: refusal.limits) == whole,
        "split at \(split)")
    }
  }

  @Test("every kind of refusal has an example")
  func everyKind() {
    let shown = Set(Refusal.all.map(\.kind))
    #expect(HTTP1Error.Kind.allCases.filter { !shown.contains($0) }.map { "\($0)" } == [])
  }
}
