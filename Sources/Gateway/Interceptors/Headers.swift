import Configuration
import HTTPModel

/// `headers`: sets, adds and removes fields of requests and answers.
struct Headers: Interceptor {
  private let request: HeaderChanges?
  private let response: HeaderChanges?

  init(_ configuration: HeadersConfiguration) {
    request = HeaderChanges(configuration.request)
    response = HeaderChanges(configuration.response)
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    request?.apply(to: call.head.fields)
    return .proceed
  }

  func onReply(_ call: Call, _ fields: FieldBlock) { response?.apply(to: fields) }
}
