import HTTPModel
import JSONValues

extension Program {
  /// A client of an admin endpoint, with the token of the environment.
  func adminClient(_ endpoint: AdminURL) throws(ProgramError) -> AdminClient {
    let token = environment("TURNOUT_ADMIN_TOKEN").flatMap { $0.isEmpty ? nil : $0 }
    if let token, !FieldSyntax.isValue(Array(token.utf8).span) {
      throw ProgramError("TURNOUT_ADMIN_TOKEN holds bytes that no header may carry")
    }
    return AdminClient(endpoint: endpoint, token: token)
  }
}

extension AdminClient {
  /// The body of a good answer.
  ///
  /// - Parameter body: JSON; nil: there is none.
  /// - Throws: why there is none, in one line.
  func answer(
    _ method: HTTPMethod, _ path: String, body: [UInt8]? = nil
  ) throws(ProgramError) -> [UInt8] {
    let answer: Answer
    do {
      answer = try send(method, path, body: body)
    } catch {
      throw ProgramError(
        "no answer from the admin endpoint \(endpoint.text): \(error.reason); is it running? --admin names another")
    }
    guard answer.status == 200 else { throw ProgramError(reason(of: answer)) }
    return answer.body
  }

  /// The endpoint's own words, else the status alone: whoever answers at that port may not be Turnout.
  private func reason(of answer: Answer) -> String {
    guard let message = (try? JSONValue(parsing: answer.body))?["error"]?.text else {
      return
        "\(endpoint.text) answered \(answer.status), and not as Turnout's admin endpoint does; --admin names another"
    }
    if answer.status == 401 {
      let what =
        token == nil
        ? "wants its token: set TURNOUT_ADMIN_TOKEN to it" : "does not take the token of TURNOUT_ADMIN_TOKEN"
      return "the admin endpoint \(endpoint.text) \(what) (status 401)"
    }
    return "\(Figures.line(message)) (status \(answer.status))"
  }
}
