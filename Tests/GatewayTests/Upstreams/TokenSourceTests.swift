import Bytes
import HTTPModel
import Testing

@testable import Gateway

/// Answers of token endpoints.
@Suite struct TokenSourceTests {
  private func read(_ body: String, status: Int = 200) -> Result<
    SharedResource<CredentialField>.Fetched, InternalFailure
  > {
    let head = ResponseHead()
    head.status = status
    let reply = InternalReply(head)
    reply.body.append(text: body)
    return TokenSource.read(reply)
  }

  private func token(_ body: String) throws -> (field: String, refresh: Duration, life: Duration?) {
    let fetched = try read(body).get()
    let fields = FieldBlock()
    fields.append("authorization", "Basic of the caller")
    fetched.value.apply(to: fields)
    #expect(fields.count == 1)
    return (try #require(fields.text(of: .authorization)), fetched.refreshIn, fetched.usableFor)
  }

  @Test(arguments: [
    (#"{"access_token":"a.b-c","token_type":"Bearer","expires_in":3600}"#, 2880.0, 3600.0),
    (#"{"access_token":"a.b-c","token_type":"bearer","expires_in":"3600"}"#, 2880, 3600),
    (#"{"access_token":"a.b-c"}"#, 240, 300), (#"{"access_token":"a.b-c","expires_in":20}"#, 10, 20),
    (#"{"access_token":"a.b-c","expires_in":1}"#, 1, 1),
    (#"{"access_token":"a.b-c","expires_in":1e300}"#, 25_297_920, 31_622_400),
  ]) func aTokenIsFetchedAgainBeforeItEnds(body: String, refresh: Double, life: Double) throws {
    let got = try token(body)
    #expect(got.field == "Bearer a.b-c")
    #expect((got.refresh, got.life) == (.seconds(refresh), .seconds(life)))
  }

  @Test(arguments: [
    "", "junk", "[]", "{}", #"{"access_token":7}"#, #"{"access_token":""}"#, #"{"access_token":"a b"}"#,
    #"{"access_token":"a\r\nx-admin: 1"}"#, #"{"access_token":"a","token_type":"mac"}"#,
    #"{"access_token":"a","expires_in":0}"#, #"{"access_token":"a","expires_in":-5}"#,
    #"{"access_token":"a","expires_in":true}"#, #"{"access_token":"a","expires_in":"soon"}"#,
    #"{"access_token":"a","access_token":"b"}"#,
  ]) func otherAnswersAreOfNoUse(body: String) {
    #expect(throws: InternalFailure.self) { try read(body).get() }
  }

  @Test func aRefusalIsNamedAndNotQuoted() {
    func reason(_ body: String) -> String {
      if case .failure(let failure) = read(body, status: 401) { failure.reason } else { "" }
    }
    #expect(
      reason(#"{"error":"invalid_client","error_description":"s3cr3t"}"#) == "the answer has status 401: invalid_client"
    )
    #expect(reason(#"{"error":"s3cr3t"}"#) == "the answer has status 401")
    #expect(reason("s3cr3t") == "the answer has status 401")
  }
}
