import Diagnostics

extension LoadContext {
  /// Of one `${file:}` value; a token or a host name is short.
  static let longestSecret = 64 << 10
  /// Of a text with all its values put in.
  static let longestText = 1 << 20

  /// Replaces `${env:NAME}` and `${file:PATH}`; `$${` stands for `${`. Nil, and a fault, when one has no value.
  ///
  /// What is put in is not looked at again, and is a secret from here on: `shown` keeps the text as written.
  func interpolate(_ written: String, at position: SourcePosition) -> Text? {
    guard !written.utf8.contains(0) else {
      error(position, "the text has a NUL character", cure: "remove it")
      return nil
    }
    var result = Text(value: "", position: position, shown: quoted(written))
    var rest = written[...]
    var isWhole = true
    while let dollar = rest.firstIndex(of: "$") {
      result.value += rest[..<dollar]
      rest = rest[dollar...]
      if rest.hasPrefix("$${") {
        result.value += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        guard let end = rest.firstIndex(of: "}") else {
          error(position, "\(quoted(written)) has a `${` without `}`", cure: "close it, or write `$${` for the text")
          return nil
        }
        let name = rest[rest.index(dollar, offsetBy: 2)..<end]
        if let value = substitute(String(name), at: position) {
          result.isSecret = true
          keep(secret: value)
          result.value += value
        } else {
          isWhole = false
        }
        rest = rest[rest.index(after: end)...]
        guard result.value.utf8.count <= Self.longestText else {
          error(position, "\(quoted(written)) becomes longer than \(Self.longestText) bytes")
          return nil
        }
      } else {
        result.value += "$"
        rest = rest.dropFirst()
      }
    }
    result.value += rest
    if let name = written.dropping(prefix: "$"), isVariableName(name) {
      warning(position, "\(quoted(written)) stands for itself", cure: "write `${env:\(name)}` for the variable's value")
    }
    if result.isSecret { keep(secret: result.value) }
    return isWhole ? result : nil
  }

  /// As variables of the environment are mostly named: `API_TOKEN`.
  private func isVariableName(_ name: String) -> Bool {
    name.first?.isLetter == true
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (0x30...0x39).contains(byte)
          || byte == UInt8(ascii: "_")
      }
  }

  private func substitute(_ name: String, at position: SourcePosition) -> String? {
    if let variable = name.dropping(prefix: "env:") {
      if let value = environment(variable) { return value }
      error(position, "the environment variable \(quoted(variable)) is not set", cure: "set it before the start")
    } else if let path = name.dropping(prefix: "file:"), !path.isEmpty {
      return secretFile(FilePath.resolve(path, from: position.file), at: position)
    } else {
      error(
        position, "\(quoted("${" + name + "}")) is not known",
        cure: "write `${env:NAME}`, `${file:PATH}`, or `$${` for the text `${`")
    }
    return nil
  }

  /// The content of a file without its last line break.
  private func secretFile(_ path: String, at position: SourcePosition) -> String? {
    opened(path)
    switch SourceFile.read(path, limit: Self.longestSecret) {
    case .failed(let reason): error(position, "\(quoted(path)) cannot be read: \(reason)")
    case .tooLong: error(position, "\(quoted(path)) is longer than \(Self.longestSecret) bytes")
    case .bytes(var bytes):
      if bytes.last == 0x0A { bytes.removeLast() }
      if bytes.last == 0x0D { bytes.removeLast() }
      if let value = String(validating: bytes, as: UTF8.self), !bytes.contains(0) { return value }
      error(position, "\(quoted(path)) does not hold text in UTF-8")
    }
    return nil
  }
}

extension String {
  /// What follows a prefix; nil without it.
  func dropping(prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
