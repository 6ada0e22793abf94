package import Diagnostics

/// Descriptor sets and `.proto` sources in, one resolved ``Schema`` or all faults out.
///
/// The well-known types of `google.protobuf`, the error model of `google.rpc` and `google.api.HttpBody` are always in
/// the schema, each once, whether a source brings them or not.
package enum SchemaLoader {
  /// One entry of the configuration's `schema:`.
  package enum Source: Sendable {
    /// A serialized FileDescriptorSet: where it was read from, its content, and the place of the entry.
    case descriptorSet(path: String, bytes: [UInt8], position: SourcePosition)
    /// Sources, named relative to an import path or by a path on disk inside one. Without import paths they are looked
    /// for from the folder of the configuration file.
    case protos(files: [String], importPaths: [String], position: SourcePosition)
  }

  /// Loads all sources together: types of one may refer to types of another.
  ///
  /// - Parameters:
  ///   - services: full names of services that are wanted: of those that any gRPC server may have (health, reflection)
  ///     the descriptors are at hand.
  ///   - keepsFiles: whether ``Schema/files`` is wanted.
  ///   - reading: called with the serialized descriptors of each source, in order; those of `.proto` sources have all that
  ///     these import.
  /// - Returns: the schema, nil with any error; and every fault. A fault of a `.proto` source has its own file, line
  ///   and column, any other the place of the source's entry.
  package static func load(
    _ sources: [Source], services: [String] = [], keepsFiles: Bool = false,
    reading: @escaping ([UInt8]) -> Void = { _ in }
  ) -> (schema: Schema?, diagnostics: [Diagnostic]) {
    var files = FileCollection(keepsBytes: keepsFiles, reading: reading)
    for source in sources {
      switch source {
      case .descriptorSet(let path, let bytes, let position):
        files.addDescriptorSet(bytes, path: path, position: position)
      case .protos(let names, let importPaths, let position):
        files.addSources(names, importPaths: importPaths, position: position)
      }
    }
    files.addBuiltIns(services: services)
    var builder = SchemaBuilder(files)
    let schema = builder.build(keepsFiles: keepsFiles)
    let hasErrors = builder.diagnostics.contains { $0.severity == .error }
    return (hasErrors ? nil : schema, builder.diagnostics)
  }
}
