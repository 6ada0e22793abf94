import Configuration
import Diagnostics
import EventLoops
import Files
import Glibc
import ProtobufSchema

/// Reads the files that `schema:` names.
enum SchemaFiles {
  /// No descriptor set of a sane API is larger.
  private static let maximumBytes = 256 << 20

  static func read(
    _ configured: [SchemaSourceConfiguration]
  ) -> (sources: [SchemaLoader.Source], diagnostics: [Diagnostic]) {
    var sources: [SchemaLoader.Source] = []
    var diagnostics: [Diagnostic] = []
    for entry in configured {
      switch entry.source {
      case .protos(let files, let importPaths):
        let missing = importPaths.filter { !isFolder($0) }
        for folder in missing {
          diagnostics.append(
            Diagnostic(
              at: entry.position, "the import path \(folder) is not a folder",
              cure: "name the folder that holds the .proto files, relative to this file"))
        }
        // That no file is found there goes without saying.
        if missing.isEmpty {
          sources.append(.protos(files: files, importPaths: importPaths, position: entry.position))
        }
      case .descriptorSet(let path):
        do throws(FileFault) {
          let bytes = try WholeFile(path, limit: maximumBytes).bytes
          sources.append(.descriptorSet(path: path, bytes: bytes, position: entry.position))
        } catch {
          diagnostics.append(
            Diagnostic(
              at: entry.position, "cannot read the descriptor set \(path): \(error.reason)",
              cure: "make it with: buf build -o FILE, or protoc --include_imports --descriptor_set_out=FILE"))
        }
      }
    }
    return (sources, diagnostics)
  }

  private static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }
}

extension GatewayConfiguration {
  /// Files that the schema is made of.
  var schemaFiles: [String] {
    schema.flatMap { entry -> [String] in
      switch entry.source {
      case .descriptorSet(let path): [path]
      case .protos(let files, let importPaths):
        importPaths.isEmpty ? files : importPaths.flatMap { folder in files.map { "\(folder)/\($0)" } }
      }
    }
  }
}
