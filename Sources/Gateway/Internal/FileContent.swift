import Files

/// Reads small files whole, when a configuration is compiled.
enum FileContent {
  static func read(_ path: String, limit: Int) -> Result<[UInt8], FileFault> {
    Result { () throws(FileFault) in try WholeFile(path, limit: limit).bytes }
  }
}
