import Configuration
import HTTPModel
import Testing

@testable import Gateway

@Suite struct IdentityFieldTests {
  private func fields(_ headers: String...) -> IdentityFields? {
    var jwt = JWTConfiguration(issuers: [])
    jwt.forward = headers.map { .init(claim: "sub", header: $0) }
    var configuration = GatewayConfiguration()
    configuration.interceptors = [.jwt(jwt)]
    return IdentityFields(configuration)
  }

  @Test func everySpellingIsTakenAway() throws {
    let block = FieldBlock()
    for name in [
      "x-user-id", "X-User-Id", "X_USER_ID", "x_user-id", "x-userid", "x-user-id2", "xx-user-id", "user-agent",
    ] {
      block.append(name, "v")
    }
    try #require(fields("x-user-id", "accept")).remove(from: block)
    let left = block.indices.filter { !block.entry(at: $0).isRemoved }.map { block.name(at: $0) }
    #expect(left == ["x-userid", "x-user-id2", "xx-user-id", "user-agent"])
  }

  @Test func whereNobodySetsOneNothingIsLookedFor() {
    #expect(fields() == nil)
    #expect(IdentityFields(GatewayConfiguration()) == nil)
  }
}
