import JSONValues
import Synchronization
import Testing

@testable import Gateway

/// As an audit log has them.
private final class Told: Sendable {
  let lines = Mutex<[String]>([])
}

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

  /// All at one time, and from many threads: whoever writes them down has the order of the numbers.
  @Test func eventsOfOneMomentHaveOneOrder() async throws {
    let trail = AuditTrail()
    let told = Told()
    let each = AuditTrail.reloadCapacity / 5
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<5 {
        group.addTask {
          for number in 0..<each {
            let record = reload(.ok, thread * each + number)
            trail.append(record) { sequence in told.lines.withLock { $0.append("\(sequence): \(record.error)") } }
          }
        }
      }
    }
    let shown = try #require(trail.json(replica: "r")["reloads"]?.elements).reversed().map { event in
      "\(Int(event["sequence"]?.number ?? 0)): \(event["error"]?.text ?? "")"
    }
    #expect(shown.count == each * 5)
    #expect(shown.enumerated().allSatisfy { $1.hasPrefix("\($0 + 1): ") })
    #expect(told.lines.withLock { $0 } == shown)
  }

  @Test func ofReloadsTheLastOnesAreKept() throws {
    let trail = AuditTrail()
    let all = AuditTrail.reloadCapacity + 7
    for number in 1...all { trail.append(reload(.ok, number)) }
    #expect(try kept(trail) == (8...all).reversed().map { "ok \($0)" })
  }
}
