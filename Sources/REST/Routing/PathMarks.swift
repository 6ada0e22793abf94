import Bytes

/// What of a path servers read in different ways: only those readings are tried.
struct PathMarks {
  private(set) var hasEscape = false
  /// Whether a second decoding would find something.
  private(set) var hasHiddenEscape = false
  private(set) var hasEscapedSlash = false
  private(set) var hasBackslash = false
  private(set) var hasParameter = false
  private(set) var hasDot = false
  private var hasDoubledSlash = false

  init(_ path: Span<UInt8>) {
    var before: UInt8 = 0
    for index in path.indices {
      let byte = path[index]
      note(byte)
      if byte == UInt8(ascii: "/"), before == byte { hasDoubledSlash = true }
      if byte == UInt8(ascii: "%") {
        hasEscape = true
        let decoded = PathNormalizer.escape(path, at: index)
        // A sign of its own and the digits behind it may become an escape.
        if decoded == nil || decoded == UInt8(ascii: "%") { hasHiddenEscape = true }
        if decoded == UInt8(ascii: "/") { hasEscapedSlash = true }
        if let decoded, decoded != UInt8(ascii: ";") { note(decoded) }
      }
      before = byte
    }
    guard hasHiddenEscape else { return }
    hasEscapedSlash = true
    hasBackslash = true
    hasParameter = true
    hasDot = true
  }

  private mutating func note(_ byte: UInt8) {
    if byte == UInt8(ascii: "\\") { hasBackslash = true }
    if byte == UInt8(ascii: ";") { hasParameter = true }
    if byte == UInt8(ascii: ".") { hasDot = true }
  }

  var mayHaveEmptySegment: Bool { hasDoubledSlash || hasEscapedSlash || hasBackslash || hasParameter }

  /// Where dots are resolved before anything is decoded, other segments are taken out.
  var decodings: ClosedRange<Int> { (hasDot && hasEscape ? 0 : 1)...(hasHiddenEscape ? 2 : 1) }

  /// Both ways where it matters; else the one that is true.
  func choices(_ matters: Bool) -> StaticChoices { StaticChoices(matters) }

  var formCount: Int {
    var count = decodings.count
    for matters in [hasEscapedSlash, hasBackslash, hasDot && mayHaveEmptySegment, hasParameter] where matters {
      count *= 2
    }
    return count
  }

  /// True, and false if that is another way.
  struct StaticChoices: Sequence, IteratorProtocol {
    private var left: Int

    init(_ matters: Bool) { left = matters ? 2 : 1 }

    mutating func next() -> Bool? {
      guard left > 0 else { return nil }
      left -= 1
      // With two to come the last one is true as well: every run has it.
      return left == 0
    }
  }
}
