import Metrics
import Testing

@Suite("Prometheus' text format")
struct ExpositionTests {
  /// Every kind of metric, with and without labels, with and without numbers, with hostile label values.
  private func everything(_ order: [Int] = [0, 1, 2, 3, 4, 5, 6]) -> MetricsRegistry {
    let registry = MetricsRegistry(shards: 3)
    for step in order {
      switch step {
      case 0:
        let family = registry.counter(
          "turnout_requests_total", help: "Calls that ended.", labels: ["route", "service", "code"])
        for values in [["/v1/b", "s.S", "ok"], ["/v1/a", "s.S", "ok"], ["/v1/a", "s.S", "internal"]] {
          family.child(values).add(2, shard: 1)
        }
      case 1:
        let family = registry.counter("turnout_shadow_differences_total", help: "Differences.", labels: ["path"])
        for value in ["a\"b", "c\\d", "e\nf", "ü😀", "", "x{y=\"z\"} 1\r\n#"] { family.child([value]).add(shard: 0) }
      case 2: registry.gauge("turnout_connections", help: "Open.", labels: ["listener"]).child([":80"]).add(shard: 2)
      case 3:
        let gauge = registry.gauge("turnout_start_time_seconds", help: "A back\\slash,\na line feed, a \"quote\".")
        registry.onScrape { gauge.child([]).set(1_795_000_000.5) }
      case 4:
        let family = registry.histogram("turnout_request_duration_seconds", help: "Durations.", labels: ["side"])
        family.child(["rpc"]).observe(seconds: 0.003, shard: 0)
        family.child(["rest"]).observe(seconds: 45, shard: 1)
        family.child(["rest"]).observe(seconds: 0.5, shard: 2)
      case 5: _ = registry.histogram("turnout_idle_duration_seconds", help: "Nothing seen yet.")
      default: _ = registry.counter("turnout_rollbacks_total", help: "No child yet.", labels: ["reason"])
      }
    }
    return registry
  }

  @Test(.enabled(if: Promtool.path != nil, "promtool is not installed"))
  func promtoolIsClean() throws {
    let result = try Promtool.check(everything().expose())
    #expect(result.code == 0)
    #expect(result.output == "")
    // The checker does find faults in this pipe.
    #expect(try Promtool.check(Array("what is this\n".utf8)).code != 0)
  }

  @Test func orderIsDeterministic() {
    let once = everything().expose()
    #expect(once == everything([6, 5, 4, 3, 2, 1, 0]).expose())
    let registry = everything()
    #expect(registry.expose() == registry.expose())
    let names = exposition(everything()).split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
      .map { String($0.split(separator: " ")[2]) }
    #expect(names.count == 7)
    #expect(names == names.sorted())
  }

  @Test func labelValuesAreEscaped() {
    let lines = samples(everything([1]))
    #expect(lines.contains(#"turnout_shadow_differences_total{path="a\"b"} 1"#))
    #expect(lines.contains(#"turnout_shadow_differences_total{path="c\\d"} 1"#))
    #expect(lines.contains(#"turnout_shadow_differences_total{path="e\nf"} 1"#))
    #expect(lines.contains(#"turnout_shadow_differences_total{path="ü😀"} 1"#))
    #expect(lines.contains("turnout_shadow_differences_total{path=\"x{y=\\\"z\\\"} 1\r\\n#\"} 1"))
    #expect(lines.count == 6)
  }

  @Test func helpIsEscaped() {
    #expect(
      exposition(everything([3])) == """
        # HELP turnout_start_time_seconds A back\\\\slash,\\na line feed, a "quote".
        # TYPE turnout_start_time_seconds gauge
        turnout_start_time_seconds 1795000000.5

        """)
  }

  @Test func childrenAreSortedByLabels() {
    #expect(
      samples(everything([0])) == [
        #"turnout_requests_total{route="/v1/a",service="s.S",code="internal"} 2"#,
        #"turnout_requests_total{route="/v1/a",service="s.S",code="ok"} 2"#,
        #"turnout_requests_total{route="/v1/b",service="s.S",code="ok"} 2"#,
      ])
  }

  @Test func bucketsAreCumulative() throws {
    let lines = samples(everything([4])).filter { $0.contains(#"side="rest""#) }
    let counts = try lines.filter { $0.contains("_bucket") }.map { line in
      try #require(Int(line.split(separator: " ").last ?? ""))
    }
    #expect(counts == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2])
    #expect(
      lines.filter { $0.contains("+Inf") } == [
        #"turnout_request_duration_seconds_bucket{side="rest",le="+Inf"} 2"#
      ])
    #expect(
      lines.suffix(2) == [
        #"turnout_request_duration_seconds_sum{side="rest"} 45.5"#,
        #"turnout_request_duration_seconds_count{side="rest"} 2"#,
      ])
  }

  @Test func whatOthersCountIsACounter() {
    let registry = MetricsRegistry(shards: 4)
    registry.total("process_cpu_seconds_total", help: "Time.").child([]).set(1.25)
    let text = String(decoding: registry.expose(), as: UTF8.self)
    #expect(text.contains("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.25\n"))
    #expect(registry.total("process_cpu_seconds_total", help: "Time.").child([]).value == 1.25)
  }

  @Test func scrapersRunEachTime() {
    let registry = MetricsRegistry(shards: 1)
    let runs = registry.counter("scrapes_total", help: "Scrapes.").child([])
    registry.onScrape { runs.add(shard: 0) }
    #expect(samples(registry) == ["scrapes_total 1"])
    #expect(samples(registry) == ["scrapes_total 2"])
  }

  @Test(arguments: [
    (0, "0"), (-3, "-3"), (0.5, "0.5"), (1e15, "1000000000000000"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
    (.nan, "NaN"), (1e300, "1e+300"),
  ])
  func gaugeNumbers(value: Double, expected: String) {
    let registry = MetricsRegistry(shards: 1)
    registry.gauge("level", help: "A level.").child([]).set(value)
    #expect(samples(registry) == ["level \(expected)"])
  }
}
