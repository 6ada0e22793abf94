package import Diagnostics
import Glibc

/// Reads a configuration file with all it includes, and checks all that can be checked without a schema.
package enum ConfigurationLoader {
  /// Loads a file.
  ///
  /// - Parameter path: The main file; the places in diagnostics begin with it as it is given here.
  /// - Returns: The configuration, nil when any diagnostic is an error; and everything that was found, in the order
  ///   of the files and their lines. No diagnostic shows a value that came from `${env:}` or `${file:}`.
  package static func load(path: String) -> (configuration: GatewayConfiguration?, diagnostics: [Diagnostic]) {
    let context = LoadContext(environment: variable)
    let root = MainDocument(context).read(path)
    return finish(root, file: path, context)
  }

  /// Loads a text as if it were the content of `file`; includes and `${file:}` are read from the disk.
  ///
  /// - Parameter environment: Stands for the process's environment.
  package static func load(
    text: String, file: String, environment: (@Sendable (String) -> String?)? = nil
  ) -> (configuration: GatewayConfiguration?, diagnostics: [Diagnostic]) {
    load(bytes: Array(text.utf8), file: file, environment: environment ?? variable)
  }

  static func load(
    bytes: [UInt8], file: String, environment: @escaping (String) -> String?
  ) -> (configuration: GatewayConfiguration?, diagnostics: [Diagnostic]) {
    let context = LoadContext(environment: environment)
    let root = MainDocument(context).read(bytes, file: file)
    return finish(root, file: file, context)
  }

  /// Every section with its keys, as the loader knows them.
  static var knownSections: [KnownSection] { Sections.all }

  /// The keys that a file uses, as `section.key`; for tests of the reference file.
  static func keysUsed(in path: String) -> Set<String> {
    let context = LoadContext(environment: variable)
    _ = finish(MainDocument(context).read(path), file: path, context)
    return context.seenKeys
  }

  private static func finish(
    _ root: Node?, file: String, _ context: LoadContext
  ) -> (configuration: GatewayConfiguration?, diagnostics: [Diagnostic]) {
    var reader = RootReader(context)
    if let root { reader.read(root) }
    context.checkClearSecrets()
    var configuration = reader.configuration
    configuration.file = file
    configuration.watchedFiles = context.files
    configuration.documents = context.documents
    configuration.keyFiles = context.credentialFiles
    configuration.secrets = context.secrets
    return (context.hasErrors || root == nil ? nil : configuration, context.sorted())
  }

  private static let variable: @Sendable (String) -> String? = { name in
    guard !name.isEmpty, !name.contains("=") else { return nil }
    return getenv(name).flatMap { String(validatingCString: $0) }
  }
}
