import JSONValues
import Testing

@testable import Gateway

@Suite struct AuditTrailTests {
  private func reload(_ outcome: ReloadRecord.Outcome, _ number: Int) -> ReloadRecord {
    ReloadRecord(outcome: outcome, cause: .file, error: "\(outcome) \(number)", at: 0)
  }

  /// Those that are kept, newest first, by what their faults say.
  private func kept(_ trail: AuditTrail) throws -> [String] {
    let json = trail.json(replica: "r")
    return try #require(json["reloads"]?.elements).compactMap { $0["error"]?.text }
  }

  @Test func refusedRequestsPushNoReloadOut() throws {
    let trail = AuditTrail()
    for number in 1...3 { trail.append(reload(.failed, number)) }
    for number in 1...200 { trail.append(reload(.refused, number)) }
    trail.append(reload(.ok, 4))
    let kept = try kept(trail)
    #expect(kept.count == AuditTrail.reloadCapacity)
    #expect(kept.first == "ok 4" && kept[1] == "refused 200")
    #expect(kept.suffix(3) == ["failed 3", "failed 2", "failed 1"])
  }

  @Test func ofReloadsTheLastOnesAreKept() throws {
    let trail = AuditTrail()
    let all = AuditTrail.reloadCapacity + 7
    for number in 1...all { trail.append(reload(.ok, number)) }
    #expect(try kept(trail) == (8...all).reversed().map { "ok \($0)" })
  }
}
