import Bytes
import Configuration
import HTTPModel
import Policies
import Tracing

/// `request_id`: every call has an `x-request-id`, the caller's own if it may be kept, else one that is made here. It
/// goes upstream, into the access log, and back to the caller, on refusals too.
struct RequestIdentity: Interceptor {
  private let keepsCallers: Bool

  init(_ configuration: RequestIDConfiguration) { keepsCallers = configuration.trust }

  func onCall(_ call: Call) -> InterceptorVerdict {
    let fields = call.head.fields
    // Two of them are no name.
    if keepsCallers, fields.count(of: .xRequestId) == 1, let index = fields.firstIndex(of: .xRequestId),
      fields.withValue(at: index, { RequestID.isAcceptable($0) })
    {
      return .proceed
    }
    fields.remove(.xRequestId)
    if let trace = call.trace {
      // One name for both.
      call.worker.scratch.removeAll()
      trace.context.writeTrace(into: &call.worker.scratch)
      call.worker.scratch.withSpan { fields.append(.xRequestId, $0) }
    } else {
      fields.append(.xRequestId, call.worker.requestIDs.next().span)
    }
    return .proceed
  }

  func onReply(_ call: Call, _ fields: FieldBlock) {
    guard let index = call.head.fields.firstIndex(of: .xRequestId) else { return }
    fields.remove(.xRequestId)
    fields.append(from: call.head.fields, at: index)
  }
}
