import Metrics
import Testing

@Suite("Counters, gauges, histograms")
struct MetricsTests {
  @Test func countersAddOverShards() {
    let registry = MetricsRegistry(shards: 4)
    let counter = registry.counter("calls_total", help: "Calls.").child([])
    for shard in 0..<4 { counter.add(UInt64(shard + 1), shard: shard) }
    counter.add(shard: 0)
    #expect(counter.value == 11)
  }

  @Test func foreignShardsCountToo() {
    let counter = MetricsRegistry(shards: 2).counter("calls_total", help: "Calls.").child([])
    counter.add(shard: 2)
    counter.add(shard: -1)
    counter.add(shard: .max)
    #expect(counter.value == 3)
  }

  @Test func childrenAreMadeOnce() {
    let registry = MetricsRegistry(shards: 1)
    let family = registry.counter("calls_total", help: "Calls.", labels: ["a", "b"])
    let first = family.child(["1", "2"])
    first.add(5, shard: 0)
    // A reload asks for the same family and labels again: nothing is reset.
    let again = registry.counter("calls_total", help: "Calls.", labels: ["a", "b"]).child(["1", "2"])
    #expect(first === again)
    #expect(again.value == 5)
    #expect(family.child(["2", "1"]) !== first)
  }

  @Test func labelValuesAreMadeToFit() {
    let family = MetricsRegistry(shards: 1).counter("calls_total", help: "Calls.", labels: ["a", "b"])
    #expect(family.child(["1"]) === family.child(["1", ""]))
    #expect(family.child(["1", "2", "3"]) === family.child(["1", "2"]))
  }

  /// A hash or a version that is not the case any more would be read as if it were.
  @Test func whatIsTheCaseNowIsAlone() {
    let registry = MetricsRegistry(shards: 1)
    let family = registry.gauge("config_info", help: "Which one.", labels: ["hash"])
    for hash in ["a", "b", "b"] { family.only([hash]) { $0.set(1) } }
    #expect(samples(registry) == [#"config_info{hash="b"} 1"#])
  }

  @Test func childrenAreCapped() {
    let registry = MetricsRegistry(shards: 1)
    let family = registry.counter("calls_total", help: "Calls.", labels: ["path"], maximumChildren: 3)
    for index in 0..<10 { family.child(["p\(index)"]).add(shard: 0) }
    family.child(["p1"]).add(shard: 0)
    #expect(
      samples(registry) == [
        #"calls_total{path="other"} 7"#, #"calls_total{path="p0"} 1"#, #"calls_total{path="p1"} 2"#,
        #"calls_total{path="p2"} 1"#,
      ])
  }

  @Test func gaugesGoUpAndDown() {
    let registry = MetricsRegistry(shards: 2)
    let gauge = registry.gauge("connections", help: "Connections.").child([])
    gauge.add(3, shard: 0)
    gauge.add(-1, shard: 1)
    #expect(gauge.value == 2)
    gauge.add(-2, shard: 1)
    #expect(gauge.value == 0)
    let set = registry.gauge("share_ratio", help: "A share.").child([])
    set.set(0.125)
    set.set(0.25)
    #expect(set.value == 0.25)
    #expect(samples(registry) == ["connections 0", "share_ratio 0.25"])
  }

  @Test func histogramBoundsAreInclusive() {
    let registry = MetricsRegistry(shards: 2)
    let histogram = registry.histogram("wait_seconds", help: "Waits.", buckets: [1, 0.1, 0.1]).child([])
    histogram.observe(seconds: 0.1, shard: 0)
    histogram.observe(nanoseconds: 100_000_001, shard: 1)
    histogram.observe(seconds: 1, shard: 1)
    histogram.observe(seconds: 2.5, shard: 0)
    histogram.observe(seconds: -1, shard: 0)
    histogram.observe(seconds: .nan, shard: 0)
    #expect(histogram.observed.counts == [3, 2, 1])
    #expect(
      samples(registry) == [
        #"wait_seconds_bucket{le="0.1"} 3"#, #"wait_seconds_bucket{le="1"} 5"#, #"wait_seconds_bucket{le="+Inf"} 6"#,
        "wait_seconds_sum 3.700000001", "wait_seconds_count 6",
      ])
  }

  @Test func endlessDurationsFallIntoTheLastBucket() {
    let registry = MetricsRegistry(shards: 1)
    let histogram = registry.histogram("wait_seconds", help: "Waits.", buckets: []).child([])
    histogram.observe(seconds: .infinity, shard: 0)
    #expect(
      samples(registry) == [
        #"wait_seconds_bucket{le="+Inf"} 1"#, "wait_seconds_sum 9000000000", "wait_seconds_count 1",
      ])
  }

  @Test func manyThreadsLoseNothing() async {
    let registry = MetricsRegistry(shards: 4)
    let family = registry.counter("calls_total", help: "Calls.", labels: ["side"])
    let waits = registry.histogram("wait_seconds", help: "Waits.", buckets: [0.001]).child([])
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for index in 0..<5_000 {
            family.child([index.isMultiple(of: 2) ? "rest" : "rpc"]).add(shard: task % 4)
            waits.observe(nanoseconds: index.isMultiple(of: 2) ? 1_000 : 2_000_000, shard: task % 4)
          }
        }
        group.addTask { _ = registry.expose() }
      }
    }
    #expect(family.child(["rest"]).value == 20_000)
    #expect(family.child(["rpc"]).value == 20_000)
    #expect(waits.observed.counts == [20_000, 20_000])
    #expect(waits.observed.nanoseconds == 20_000 * 2_001_000)
  }
}
