import Glibc

/// Which folders can change what file a path leads to: the one that holds it, and those of all links on the way.
enum WatchedFolders {
  /// As many links as the kernel follows.
  private static let maximumLinks = 40

  /// The folders, by absolute paths without links; for a missing file, up to the deepest folder that exists.
  static func folders(of path: String) -> Set<String> {
    var folders: Set<String> = []
    var rest = parts(path)
    var current = "/"
    if !path.hasPrefix("/") { rest = workingFolder() + rest }
    rest.reverse()
    var links = 0
    while let part = rest.popLast() {
      if part == ".." {
        current = parent(of: current)
        continue
      }
      let next = current == "/" ? "/\(part)" : "\(current)/\(part)"
      if let target = link(at: next) {
        folders.insert(current)
        links += 1
        if links > maximumLinks { break }
        if target.hasPrefix("/") { current = "/" }
        rest += parts(target).reversed()
      } else if rest.isEmpty || !isFolder(next) {
        folders.insert(current)
        break
      } else {
        current = next
      }
    }
    return folders
  }

  private static func parts(_ path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init)
  }

  private static func parent(of folder: String) -> String {
    guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return "/" }
    return String(folder[..<slash])
  }

  private static func workingFolder() -> [String] {
    guard let folder = getcwd(nil, 0) else { return [] }
    defer { free(folder) }
    return parts(String(cString: folder))
  }

  /// What a symbolic link says; nil for anything else.
  private static func link(at path: String) -> String? {
    withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { room in
      guard let start = room.baseAddress else { return nil }
      let length = readlink(path, start.assumingMemoryBound(to: CChar.self), room.count)
      guard length > 0 else { return nil }
      return String(decoding: room.prefix(length), as: UTF8.self)
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
