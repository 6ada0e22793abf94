import Glibc

/// What a fuzzer starts from, and what it found: the files of `Tests/Fuzz/<name>/corpus`.
package struct FuzzCorpus {
  package struct Fault: Error {
    package let path: String
    package let errno: CInt
  }

  /// By name, in order.
  package let files: [(name: String, bytes: [UInt8])]

  package init(_ name: String) throws(Fault) {
    let folder = "\(#filePath)".split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/Fuzz/\(name)/corpus"
    guard let listing = opendir(folder) else { throw Fault(path: folder, errno: errno) }
    defer { closedir(listing) }
    var files: [(name: String, bytes: [UInt8])] = []
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name == "." || name == ".." { continue }
      files.append((name, try Self.read("\(folder)/\(name)")))
    }
    self.files = files.sorted { $0.name < $1.name }
  }

  private static func read(_ path: String) throws(Fault) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Fault(path: path, errno: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = block.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 else { throw Fault(path: path, errno: errno) }
      if count == 0 { return bytes }
      bytes += block.prefix(count)
    }
  }
}
