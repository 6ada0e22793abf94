import Bytes
import HTTPModel
import RPC

/// Answers to what never became a call: there is no route and no schema, so the plainest REST shape is written.
enum ErrorAnswers {
  static func write(_ error: RPCError, into answer: Answer) {
    answer.status = error.httpStatus ?? error.code.httpStatus
    answer.fields.append(.contentType, "application/json")
    for header in error.headers { answer.fields.append(header.name, header.value) }
    // A detail needs a schema to be written; what is refused this early has none.
    answer.body.append("{\"code\":")
    answer.body.append(decimal: error.code.rawValue)
    answer.body.append(",\"message\":")
    JSONText.append(error.message, into: &answer.body)
    answer.body.append(",\"details\":[]}")
  }
}
