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
  /// Only where something imports them.
  static let onDemand = [
    "google/protobuf/descriptor.proto", "google/api/http.proto", "google/api/annotations.proto",
  ]

  /// All of them, each after what it imports; compiled once. Empty only when memory ended in the compiler.
  static let all: [FileDescriptor] = {
    let set = ProtoCompiler.compile(files: always + onDemand, importPaths: []).descriptorSet
    return (try? FileDescriptor.set(set.span)) ?? []
  }()

  /// Whether a file belongs to a package whose files differ between releases and only grow.
  static func isStandard(_ name: String) -> Bool {
    ["google/protobuf/", "google/api/", "google/rpc/"].contains { name.hasPrefix($0) }
  }
}
