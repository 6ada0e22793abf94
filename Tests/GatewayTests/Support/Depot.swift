/// The API of the tests: crates in a depot.
enum Depot {
  static let service = "depot.v1.CrateService"

  static let proto = """
    syntax = "proto3";
    package depot.v1;
    import "google/api/annotations.proto";

    service CrateService {
      rpc Get(GetRequest) returns (Crate) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/crates/{id}"};
      }
      rpc Create(Crate) returns (Crate) {
        option (google.api.http) = {post: "/v1/crates" body: "*"};
      }
      rpc Seal(GetRequest) returns (Crate) {
        option (google.api.http) = {post: "/v1/crates/{id}:seal"};
      }
      rpc Watch(GetRequest) returns (stream Crate);
    }

    message GetRequest {
      string id = 1;
    }

    message Crate {
      string id = 1;
      int32 weight = 2;
    }

    """

  /// A configuration before the two backends; `settings` are further keys of the service, and `more` of the file.
  static func configuration(
    rest: ScriptedUpstream?, rpc: ScriptedUpstream?, _ settings: [String] = [], more: [String] = []
  ) -> String {
    configuration(rest: rest?.endpoint, rpc: rpc?.endpoint, settings, more: more)
  }

  /// As the other one, with the endpoints of the backends.
  static func configuration(
    rest: String?, rpc: String?, _ settings: [String] = [], more: [String] = []
  ) -> String {
    var lines = [
      "listeners: [{ address: 127.0.0.1:0 }]", "workers: 1", "drain: 100ms",
      "schema: [{ protos: [depot.proto], import_paths: [.] }]", "upstreams:",
    ]
    if let rest { lines.append("  legacy: { protocol: rest, endpoints: [\"\(rest)\"] }") }
    if let rpc { lines.append("  depot: { protocol: connect, codec: json, endpoints: [\"\(rpc)\"] }") }
    lines += ["services:", "  \(service):"]
    if rest != nil { lines.append("    rest: legacy") }
    if rpc != nil { lines.append("    rpc: depot") }
    lines += settings.map { "    \($0)" } + more
    return lines.joined(separator: "\n") + "\n"
  }
}
