import Configuration
import RPC

/// What an upstream speaks: what faces and backends have to know of it. Apart from the whole configuration, which is
/// not to be copied for each call.
struct UpstreamDialect {
  let `protocol`: UpstreamConfiguration.BackendProtocol
  let http: UpstreamConfiguration.HTTPVersion
  /// The codec of its messages.
  let messageCodec: MessageCodec
}

extension UpstreamConfiguration {
  var dialect: UpstreamDialect {
    UpstreamDialect(protocol: `protocol`, http: http, messageCodec: codec == .json ? .json : .proto)
  }
}
