import Configuration
import Diagnostics
import Files
import HTTPModel
import Tokens

/// The keys of a file, shared by all loops.
final class HashedKeyPlan: Sendable {
  private let keys: HashedKeys
  private let forward: [UInt8]?

  init(_ keys: HashedKeys, forward: String?) {
    self.keys = keys
    self.forward = forward.map { Array($0.utf8) }
  }

  /// Whose a key is, which the backend is told too; empty for one without an owner's name, nil for an unknown one.
  func owner(of key: [UInt8], _ call: Call) -> [UInt8]? {
    let digester = call.worker.local(of: self) { TokenDigester() }
    guard let digest = digester.digest(key.span), let name = keys.name(of: digest) else { return nil }
    if let forward, !name.isEmpty { call.head.fields.append(forward.span, name.span) }
    return name
  }
}

/// A file of digests of keys.
enum HashedKeyFile {
  /// - Returns: nil when it cannot be used; and the fault.
  static func read(_ file: FileReference) -> (value: HashedKeys?, diagnostics: [Diagnostic]) {
    let shown = file.isSecret ? "the keys" : "the keys \(file.path)"
    func fault(_ reason: String, _ cure: String) -> (value: HashedKeys?, diagnostics: [Diagnostic]) {
      (nil, [Diagnostic(at: file.position, "\(shown) cannot be used: \(reason)", cure: cure)])
    }
    switch FileContent.read(file.path, limit: HashedKeys.maximumBytes) {
    case .failure(let failure): return fault(failure.reason, "")
    case .success(let bytes):
      do throws(HashedKeys.Fault) {
        let keys = try HashedKeys(parsing: bytes)
        if keys.count == 0 { return fault("it holds no key, so nobody could call", "write a key's SHA-256 into it") }
        return (keys, [])
      } catch {
        return fault(
          "line \(error.line): \(error.reason)", "write `printf %s KEY | sha256sum`, and the owner's name behind it")
      }
    }
  }
}
