import Bytes

/// The files that are at hand without any source.
enum BuiltInFiles {
  /// In every schema.
  static let always = [
    "google/protobuf/any.proto", "google/protobuf/api.proto", "google/protobuf/duration.proto",
    "google/protobuf/empty.proto", "google/protobuf/field_mask.proto", "google/protobuf/source_context.proto",
    "google/protobuf/struct.proto", "google/protobuf/timestamp.proto", "google/protobuf/type.proto",
    "google/protobuf/wrappers.proto", "google/rpc/code.proto", "google/rpc/status.proto",
    "google/rpc/error_details.proto", "google/api/httpbody.proto",
  ]
  /// Only where something imports them, or where one of ``services`` is configured.
  static let onDemand = [
    "google/protobuf/descriptor.proto", "google/api/http.proto", "google/api/annotations.proto",
    "grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto", "grpc/reflection/v1alpha/reflection.proto",
  ]
  /// Where the services are that every gRPC server may have, so that nobody has to bring their descriptors.
  static let services = [
    "grpc.health.v1.Health": "grpc/health/v1/health.proto",
    "grpc.reflection.v1.ServerReflection": "grpc/reflection/v1/reflection.proto",
    "grpc.reflection.v1alpha.ServerReflection": "grpc/reflection/v1alpha/reflection.proto",
  ]

  /// All of them, each after what it imports. Empty only if the text that is carried along were broken.
  static let all = read(keepsBytes: false)

  static func read(keepsBytes: Bool) -> [FileDescriptor] {
    let text = BuiltInDescriptors.base64
    var set = ByteBuffer()
    let isWhole = unsafe Base64.decode(
      Span(_unsafeStart: text.utf8Start, count: text.utf8CodeUnitCount), into: &set)
    guard isWhole else { return [] }
    return (try? FileDescriptor.set(set.span, keepsBytes: keepsBytes)) ?? []
  }

  /// Whether a file belongs to a package whose files differ between releases and only grow.
  static func isStandard(_ name: String) -> Bool {
    ["google/protobuf/", "google/api/", "google/rpc/", "grpc/health/", "grpc/reflection/"].contains {
      name.hasPrefix($0)
    }
  }
}
