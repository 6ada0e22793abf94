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

  /// Compiles sources with all their imports.
  ///
  /// A file is named relative to an import path, or by a path on disk inside one. `google/protobuf`, `google/api` and
  /// `google/rpc` are at hand without a path.
  /// - Returns: the serialized FileDescriptorSet of what could be compiled, and every fault.
  package static func compile(files: [String], importPaths: [String]) -> (descriptorSet: [UInt8], faults: [Fault]) {
    let compilation = unsafe withCStrings(files) { files in
      unsafe withCStrings(importPaths) { paths in
        unsafe proto_compilation_run(files.baseAddress, files.count, paths.baseAddress, paths.count)
      }
    }
    guard let compilation = unsafe compilation else {
      return ([], [Fault(file: "", line: 0, column: 0, isWarning: false, message: "memory has ended")])
    }
    defer { unsafe proto_compilation_free(compilation) }
    let result = unsafe compilation.pointee
    let bytes = unsafe UnsafeBufferPointer(start: result.descriptorSet, count: result.descriptorSetLength)
    let reported = unsafe UnsafeBufferPointer(start: result.faults, count: result.faultCount)
    let faults = reported.indices.map { index in
      let fault = unsafe reported[index]
      return unsafe Fault(
        file: String(cString: fault.file), line: Int(fault.line), column: Int(fault.column),
        isWarning: fault.isWarning, message: String(cString: fault.message))
    }
    return unsafe (Array(bytes), faults)
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
