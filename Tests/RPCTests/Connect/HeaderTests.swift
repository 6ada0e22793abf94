import Bytes
import HTTPModel
import RPC
import Testing

@Suite("Timeouts and versions")
struct HeaderTests {
  private func timeout(_ values: String...) throws(RPCError) -> Int? {
    let fields = FieldBlock()
    for value in values { fields.append("Connect-Timeout-Ms", value) }
    return try ConnectTimeout.milliseconds(fields)
  }

  @Test func timeouts() throws {
    #expect(try ConnectTimeout.milliseconds(FieldBlock()) == nil)
    #expect(try timeout("0") == 0)
    #expect(try timeout("250") == 250)
    #expect(try timeout("0000000250") == 250)
    #expect(try timeout("9999999999") == 9_999_999_999)
  }

  @Test(arguments: ["", "10000000000", "00000000001", "-1", "+1", "1.5", "1s", " 1", "0x10", "abc", "1,2"])
  func badTimeouts(value: String) {
    #expect(refusal { () throws(RPCError) in try timeout(value) }?.code == .invalidArgument)
  }

  @Test func twoTimeouts() {
    #expect(refusal { () throws(RPCError) in try timeout("5", "5") }?.code == .invalidArgument)
  }

  @Test(arguments: [(5, "5"), (0, "0"), (-3, "0"), (Int.max, "9999999999")])
  func writtenTimeout(milliseconds: Int, expected: String) {
    let fields = FieldBlock()
    ConnectTimeout.append(milliseconds: milliseconds, to: fields)
    #expect(lines(fields) == ["connect-timeout-ms: \(expected)"])
  }

  @Test func versions() throws {
    try ConnectVersion.check(FieldBlock())
    try ConnectVersion.check(block([("Connect-Protocol-Version", "1")]))
    for value in ["0", "2", "", "1.0", "v1"] {
      let fields = block([("connect-protocol-version", value)])
      #expect(refusal { () throws(RPCError) in try ConnectVersion.check(fields) }?.code == .invalidArgument)
    }
  }
}
