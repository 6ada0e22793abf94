import HTTPModel
import RPC
import Testing

@Suite("gRPC timeouts")
struct GRPCTimeoutTests {
  private func duration(_ values: String...) throws(RPCError) -> Duration? {
    let fields = FieldBlock()
    for value in values { fields.append("Grpc-Timeout", value) }
    return try GRPCTimeout.duration(fields)
  }

  @Test(arguments: [
    ("1H", Duration.seconds(3_600)), ("2M", .seconds(120)), ("3S", .seconds(3)), ("400m", .milliseconds(400)),
    ("5u", .microseconds(5)), ("6n", .nanoseconds(6)), ("0S", .zero), ("00000007S", .seconds(7)),
    ("99999999m", .milliseconds(99_999_999)),
    // No more than Connect's greatest: no sum of instants overflows.
    ("99999999S", .seconds(9_999_999)), ("99999999H", .seconds(9_999_999)),
  ])
  func units(value: String, expected: Duration) throws {
    #expect(try duration(value) == expected)
  }

  @Test func absent() throws {
    #expect(try GRPCTimeout.duration(FieldBlock()) == nil)
  }

  @Test(arguments: ["", "S", "1", "123456789S", "-1S", "+1S", "1.5S", "1 S", " 1S", "1s", "1h", "1ms", "1SS", "xS"])
  func malformed(value: String) {
    #expect(refusal { () throws(RPCError) in try duration(value) }?.code == .invalidArgument)
  }

  @Test func two() {
    #expect(refusal { () throws(RPCError) in try duration("1S", "1S") }?.code == .invalidArgument)
  }

  @Test(arguments: [
    (0, "0m"), (-5, "0m"), (1, "1m"), (99_999_999, "99999999m"), (100_000_000, "100000S"), (100_000_001, "100001S"),
    (99_999_999_000, "99999999S"), (99_999_999_001, "1666667M"), (5_999_999_940_000, "99999999M"),
    (5_999_999_940_001, "1666667H"), (Int.max, "99999999H"),
  ])
  func written(milliseconds: Int, expected: String) {
    let fields = FieldBlock()
    GRPCTimeout.write(milliseconds: milliseconds, into: fields)
    #expect(lines(fields) == ["grpc-timeout: \(expected)"])
  }
}
