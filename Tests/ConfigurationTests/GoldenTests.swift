import Diagnostics
import Glibc
import Testing

@testable import Configuration

/// Files of YAML, a ruler line, and what the loader says about it: one diagnostic a line, or `ok`.
///
/// With TURNOUT_WRITE_GOLDEN in the environment the part below the ruler is written anew, and the test fails.
@Suite struct GoldenTests {
  static let folder = Folder.of(#filePath) + "/Golden"
  static let ruler = "-----\n"
  static let names = Folder.names(in: folder, ending: ".golden")

  /// The environment of every golden file.
  static let environment = ["HOST": "secret-host", "PORT": "no-port-77", "TOKEN": "hush-hush", "EMPTY": ""]

  @Test func someAreThere() { #expect(Self.names.count >= 25) }

  @Test(arguments: names)
  func matches(_ name: String) throws {
    let path = "\(Self.folder)/\(name)"
    let content = try #require(Folder.text(of: path))
    let (yaml, expected) = try #require(content.cut(at: Self.ruler), "no ruler line")
    let (configuration, diagnostics) = ConfigurationLoader.load(
      text: yaml, file: "\(Self.folder)/turnout.yaml", environment: { Self.environment[$0] })
    let lines = diagnostics.map { $0.description.without(Self.folder + "/") }
    let got = lines.isEmpty ? "ok\n" : lines.map { $0 + "\n" }.joined()
    if getenv("TURNOUT_WRITE_GOLDEN") != nil, got != expected {
      Folder.write(yaml + Self.ruler + got, to: path)
    }
    #expect(got == expected)
    #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
    for secret in ["secret-host", "no-port-77", "hush-hush", "file-secret"] { #expect(!got.contains(secret)) }
  }
}

/// Files of the test folders.
enum Folder {
  static func of(_ file: String) -> String {
    file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
  }

  static func names(in folder: String, ending: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasSuffix(ending) { names.append(name) }
    }
    return names.sorted()
  }

  static func text(of path: String) -> String? {
    guard case .bytes(let bytes) = SourceFile.read(path, limit: 8 << 20) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func write(_ text: String, to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}

extension String {
  /// The parts before and after a text.
  func cut(at text: String) -> (String, String)? {
    var start = startIndex
    while start < endIndex {
      let rest = self[start...]
      if rest.hasPrefix(text), start == startIndex || self[index(before: start)] == "\n" {
        return (String(self[..<start]), String(rest.dropFirst(text.count)))
      }
      start = index(after: start)
    }
    return nil
  }

  /// All places of a text taken out.
  func without(_ text: String) -> String {
    var result = ""
    var rest = self[...]
    while let first = rest.first {
      if rest.hasPrefix(text) {
        rest = rest.dropFirst(text.count)
      } else {
        result.append(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }
}
