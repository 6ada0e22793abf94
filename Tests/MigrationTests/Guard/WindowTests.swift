import RandomnessTestSupport
import Testing

@testable import Migration

@Suite struct WindowTests {
  @Test func bucketsAreInOrderAndWithinAQuarter() {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<5_000 {
      let nanoseconds = UInt64.random(in: 0...UInt64.random(in: 1...40_000_000_000, using: &random), using: &random)
      let bucket = LatencyBuckets.bucket(of: nanoseconds)
      #expect(LatencyBuckets.start(of: bucket) <= nanoseconds)
      if bucket < LatencyBuckets.count - 1 { #expect(nanoseconds < LatencyBuckets.start(of: bucket + 1)) }
    }
    for bucket in 2..<LatencyBuckets.count {
      let (start, next) = (LatencyBuckets.start(of: bucket), LatencyBuckets.start(of: bucket + 1))
      #expect(next > start && Double(next) <= Double(start) * 1.26)
    }
    #expect(LatencyBuckets.bucket(of: 0) == 0 && LatencyBuckets.bucket(of: .max) == LatencyBuckets.count - 1)
  }

  @Test func quantilesAreNear() throws {
    var counts = SideCounts()
    #expect(counts.latency(at: 0.5) == nil)
    for number in 1...1_000 { counts.latencies[LatencyBuckets.bucket(of: UInt64(number) * 1_000_000)] += 1 }
    for part in [0.01, 0.5, 0.95, 0.99, 1] {
      let found = try #require(counts.latency(at: part))
      #expect((0.8...1.26).contains(found / (part * 1e9)))
    }
  }

  private func totals(_ requests: UInt64, _ failures: UInt64 = 0) -> SideCounts {
    var totals = SideCounts()
    totals.requests = requests
    totals.failures = failures
    totals.latencies[3] = UInt32(requests)
    return totals
  }

  @Test func whatIsOldLeaves() {
    var window = SlidingWindow(length: 30_000, at: 0)
    window.advance(to: 500, totals: totals(10, 2))
    window.advance(to: 15_000, totals: totals(15, 2))
    #expect((window.sum.requests, window.sum.failures, window.sum.latencies[3]) == (15, 2, 15))
    window.advance(to: 29_999, totals: totals(15, 2))
    #expect(window.sum.requests == 15)
    window.advance(to: 31_000, totals: totals(16, 3))
    #expect((window.sum.requests, window.sum.failures) == (6, 1))
    window.advance(to: 1_000_000, totals: totals(16, 3))
    #expect(window.sum == SideCounts())
  }

  @Test func aRestartForgetsAndGoesOn() {
    var window = SlidingWindow(length: 30_000, at: 0, totals: totals(7))
    window.advance(to: 100, totals: totals(9))
    #expect(window.sum.requests == 2)
    window.restart(at: 200)
    #expect(window.sum == SideCounts() && window.begunAt == 200)
    window.advance(to: 300, totals: totals(12))
    #expect(window.sum.requests == 3)
    var other = window.resized(to: 60_000)
    other.advance(to: 400, totals: totals(13))
    #expect((other.sum.requests, other.length) == (1, 60_000))
    #expect(window.seconds(at: 100_000_000_000) == 30_000 / 1e9)
  }

  /// Against a list of all events: none that is younger than the window is missing, none that is older by more than a
  /// slot is left.
  @Test(arguments: 0..<20)
  func theSumIsThatOfTheWindow(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let length: UInt64 = 3_000
    var window = SlidingWindow(length: length, at: 0)
    var events: [(at: UInt64, count: UInt64)] = []
    var (now, total): (UInt64, UInt64) = (0, 0)
    for _ in 0..<500 {
      now += UInt64.random(in: 0...UInt64(Bool.random(using: &random) ? 60 : 900), using: &random)
      let count = UInt64.random(in: 0...5, using: &random)
      total += count
      events.append((now, count))
      window.advance(to: now, totals: totals(total))
      let young = events.filter { $0.at + length - 100 > now }.reduce(0) { $0 + $1.count }
      let old = events.filter { $0.at + length >= now }.reduce(0) { $0 + $1.count }
      #expect((young...old).contains(window.sum.requests))
    }
  }
}
