import ProtobufSchema

/// The prefix that the names of an enum's values repeat: `QUALITY_` of `Quality`.
struct EnumPrefix {
  /// The enum's simple name in capitals without underscores.
  private let letters: [UInt8]

  init(_ type: EnumType) {
    let simple = type.fullName.split(separator: ".").last ?? ""
    letters = simple.uppercased().utf8.filter { $0 != UInt8(ascii: "_") }
  }

  /// The name without the prefix; nil when it does not have it, or nothing would be left.
  ///
  /// Underscores of the name do not matter, so that `HTTPMethod` matches `HTTP_METHOD_GET` and `HTTPMETHOD_GET`.
  func stripped(_ name: String) -> String? {
    guard !letters.isEmpty else { return nil }
    let bytes = Array(name.utf8)
    var matched = 0
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "_") {
        guard matched == letters.count else { continue }
        let rest = bytes[(index + 1)...]
        return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
      }
      guard matched < letters.count, byte == letters[matched] else { return nil }
      matched += 1
    }
    return nil
  }
}
