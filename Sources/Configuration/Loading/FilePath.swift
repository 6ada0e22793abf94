/// Paths as text; nothing here touches a disk.
enum FilePath {
  /// A path that a file names, seen from the working directory of that file's own path.
  static func resolve(_ path: String, from file: String) -> String {
    if path.hasPrefix("/") { return path }
    let folder = folder(of: file)
    if folder.isEmpty { return path }
    return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
  }

  /// All before the last slash, `/` for the root, empty when there is none.
  static func folder(of file: String) -> String {
    guard let slash = file.lastIndex(of: "/") else { return "" }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }
}
