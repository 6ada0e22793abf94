import COpenSSL

/// A Lua script that runs on the server: sent once, from then on called by its digest.
package struct RedisScript: Sendable {
  package let source: String
  /// SHA-1 in lower-case hexadecimal: the name under which the server keeps it.
  package let digest: String

  package init(_ source: String) {
    self.source = source
    let text = Array(source.utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    var length: CUnsignedInt = 0
    _ = unsafe EVP_Digest(text, text.count, &digest, &length, EVP_sha1(), nil)
    let digits = Array("0123456789abcdef")
    self.digest = String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// The call by digest, to which keys and arguments are appended.
  package func call(keys: Int) -> RedisCommand {
    var command = RedisCommand("EVALSHA", digest)
    command.append(keys)
    return command
  }

  /// The same call with the whole script, for a server that does not have it.
  package func fullCall(keys: Int) -> RedisCommand {
    var command = RedisCommand("EVAL", source)
    command.append(keys)
    return command
  }

  /// Whether an error says that the server has to be sent the script.
  package static func isMissing(_ error: String) -> Bool { error.hasPrefix("NOSCRIPT") }
}
