/// A name in which `*` stands for any run of characters.
struct NamePattern: Sendable {
  private let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  func matches(_ name: Span<UInt8>) -> Bool {
    var index = 0
    var at = 0
    // Where to go on after the last star when what follows it does not fit.
    var star: (pattern: Int, name: Int)?
    while index < name.count {
      if at < bytes.count, bytes[at] == UInt8(ascii: "*") {
        star = (at + 1, index)
        at += 1
      } else if at < bytes.count, bytes[at] == name[index] {
        at += 1
        index += 1
      } else if let (pattern, start) = star {
        star = (pattern, start + 1)
        at = pattern
        index = start + 1
      } else {
        return false
      }
    }
    return bytes[at...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
