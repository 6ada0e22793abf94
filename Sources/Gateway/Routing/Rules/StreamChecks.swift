import Configuration
import Diagnostics
import ProtobufSchema

/// What the version of HTTP towards an upstream does not carry, found at load.
enum StreamChecks {
  /// A warning where a method streams both ways and its RPC upstream is asked over HTTP/1.1: most servers refuse that
  /// (Connect's runtimes with 505), and where one does not, no answer comes before the end of the request.
  static func warnings(
    _ method: MethodType, _ procedure: String, _ reference: Reference?, _ upstream: UpstreamConfiguration?
  ) -> [Diagnostic] {
    guard method.isClientStreaming, method.isServerStreaming, let reference, let upstream, upstream.http == .one else {
      return []
    }
    return [
      Diagnostic(
        severity: .warning, at: reference.position,
        "\(procedure) streams both ways, which needs HTTP/2, and \"\(upstream.name)\" is asked over HTTP/1.1",
        cure: "write `http: \"2\"` for the upstream if its servers speak that")
    ]
  }
}
