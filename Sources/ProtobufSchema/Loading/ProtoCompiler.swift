import CProtoCompiler

/// The compiler of `.proto` sources (libprotobuf's importer).
package enum ProtoCompiler {
  /// One fault in a source.
  package struct Fault: Sendable, Equatable {
    /// The path on disk, or the imported name of a file that is not there.
    package var file: String
    /// From 1; 0 when the file as a whole is meant.
    package var line: Int
    /// In characters, from 1.
    package var column: Int
    package var isWarning: Bool
    package var message: String
  }

  /// What one run gave.
  package struct Result: Sendable {
    /// The serialized FileDescriptorSet of what could be compiled, imports first.
    package var descriptorSet: [UInt8] = []
    /// The path on disk by name, of the files that came from there. Only these have places in the set.
    package var paths: [String: String] = [:]
    package var faults: [Fault] = []
  }

  /// Compiles sources with all their imports.
  ///
  /// A file is named relative to an import path, or by a path on disk inside one. `google/protobuf`, `google/api` and
  /// `google/rpc` are at hand without a path.
  package static func compile(files: [String], importPaths: [String]) -> Result {
    let compilation = unsafe withCStrings(files) { files in
      unsafe withCStrings(importPaths) { paths in
        unsafe proto_compilation_run(files.baseAddress, files.count, paths.baseAddress, paths.count)
      }
    }
    guard let compilation = unsafe compilation else {
      return Result(
        faults: [Fault(file: "", line: 0, column: 0, isWarning: false, message: "memory has ended")])
    }
    defer { unsafe proto_compilation_free(compilation) }
    return unsafe read(compilation.pointee)
  }

  /// A copy of what the library owns.
  private static func read(_ compilation: CProtoCompilation) -> Result {
    var result = Result()
    unsafe result.descriptorSet = Array(
      UnsafeBufferPointer(start: compilation.descriptorSet, count: compilation.descriptorSetLength))
    let files = unsafe UnsafeBufferPointer(start: compilation.files, count: compilation.fileCount)
    for index in files.indices {
      let file = unsafe files[index]
      unsafe result.paths[String(cString: file.name)] = String(cString: file.path)
    }
    let faults = unsafe UnsafeBufferPointer(start: compilation.faults, count: compilation.faultCount)
    for index in faults.indices {
      let fault = unsafe faults[index]
      unsafe result.faults.append(
        Fault(
          file: String(cString: fault.file), line: Int(fault.line), column: Int(fault.column),
          isWarning: fault.isWarning, message: String(cString: fault.message)))
    }
    return result
  }

  /// Calls the body with C strings that live as long as it runs.
  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> R
  ) -> R {
    var characters: [CChar] = []
    var starts: [Int] = []
    for string in strings {
      starts.append(characters.count)
      characters.append(contentsOf: string.utf8.map { CChar(bitPattern: $0) })
      characters.append(0)
    }
    return unsafe characters.withUnsafeBufferPointer { storage in
      let pointers = unsafe starts.map { start in unsafe storage.baseAddress.map { unsafe $0 + start } }
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0) }
    }
  }
}
