/// The files of a schema as they were read, found by name and by what they declare: what a server of gRPC reflection
/// hands out. Immutable and shared by all loops.
package final class DescriptorFiles: Sendable {
  struct File: Sendable {
    var name: String
    /// A serialized FileDescriptorProto, without SourceCodeInfo.
    var bytes: [UInt8]
    /// Indices of the files that it imports.
    var imports: [Int]
  }

  /// An extension by what it extends.
  struct ExtensionKey: Hashable, Sendable {
    var type: String
    var number: Int32
  }

  private let files: [File]
  private let names: [String: Int]
  /// By full name: types, services, methods, fields, oneofs, enum values, extensions.
  private let symbols: [String: Int]
  private let messages: Set<String>
  private let extensions: [ExtensionKey: Int]

  init(files: [File], symbols: [String: Int], messages: Set<String>, extensions: [ExtensionKey: Int]) {
    self.files = files
    self.symbols = symbols
    self.messages = messages
    self.extensions = extensions
    names = Dictionary(files.enumerated().map { ($0.element.name, $0.offset) }) { first, _ in first }
  }

  /// The index of a file by the name under which others import it.
  package func file(named name: String) -> Int? { names[name] }

  /// The index of the file that declares a full name, without a leading dot.
  package func file(declaring symbol: String) -> Int? { symbols[symbol] }

  /// The index of the file that declares the extension of a message with a number.
  package func file(extending type: String, _ number: Int32) -> Int? {
    extensions[ExtensionKey(type: type, number: number)]
  }

  /// The numbers of all extensions of a message, ascending; nil when there is no such message.
  package func extensionNumbers(of type: String) -> [Int32]? {
    guard messages.contains(type) else { return nil }
    return extensions.keys.filter { $0.type == type }.map(\.number).sorted()
  }

  package func name(of file: Int) -> String { files[file].name }

  /// A serialized FileDescriptorProto, without SourceCodeInfo.
  package func bytes(of file: Int) -> [UInt8] { files[file].bytes }

  /// A file and all that it imports, directly or not, but for those that were handed out before: the file itself first,
  /// and in any case.
  ///
  /// - Parameter known: the indices that were handed out; those of the result are added.
  package func closure(of file: Int, known: inout Set<Int>) -> [Int] {
    var found = [file]
    known.insert(file)
    var next = 0
    while next < found.count {
      for dependency in files[found[next]].imports where known.insert(dependency).inserted {
        found.append(dependency)
      }
      next += 1
    }
    return found
  }
}
