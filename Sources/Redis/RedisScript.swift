import COpenSSL

/// A Lua script that runs on the server: sent once, from then on called by its digest.
package struct RedisScript: Sendable {
  package let source: String
  /// SHA-1 in lower-case hexadecimal: the name under which the server keeps it.
  package let digest: String

  package init(_ source: String) {
    self.source = source
    let text = Array(source.utf8)
    digest = unsafe text.withUnsafeBytes { bytes in
      unsafe RedisDigest.hexadecimal(bytes.baseAddress, bytes.count, EVP_sha1(), length: 20, prefix: 20)
    }
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
