import Configuration
import HTTPModel
import Policies
import RPC

/// What an exchange says of the endpoint, for `outlier_ejection`.
extension Attempt {
  func judge(_ failure: UpstreamFailure) {
    guard pool.rules != nil, probed == nil, let endpoint else { return }
    switch failure.kind {
    case .connect, .closed, .malformed, .timeout, .reset:
      pool.failed(endpoint, endpoint.shown(failure.kind, failure.reason))
    case .resolve, .refused, .tooLarge, .overloaded, .credentials: break
    }
  }

  /// 500, 502, 503 and 504 are failures of the server; gRPC says in its own status what would be one of these.
  func judge(_ head: ResponseHead) {
    guard probed == nil, let endpoint else { return }
    switch head.status {
    case 500, 502, 503, 504: pool.failed(endpoint, "status \(head.status)")
    case 200 where pool.configuration.protocol == .grpc:
      // Most say it at the end.
      if head.fields.contains(.grpcStatus) { judge(GRPCStatus.code(in: head.fields), endpoint) }
    default: endpoint.health.succeeded()
    }
  }

  func judge(end trailers: FieldBlock) {
    guard probed == nil, pool.configuration.protocol == .grpc, let endpoint, (head ?? held?.head)?.status == 200,
      trailers.contains(.grpcStatus)
    else { return }
    judge(GRPCStatus.code(in: trailers), endpoint)
  }

  private func judge(_ code: Code?, _ endpoint: EndpointPool) {
    guard let code, [500, 502, 503, 504].contains(code.httpStatus) else { return endpoint.health.succeeded() }
    pool.failed(endpoint, "gRPC status \(code.name)")
  }
}
