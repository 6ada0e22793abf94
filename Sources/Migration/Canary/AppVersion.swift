import Bytes

/// A version as apps write theirs: `5`, `v4.10.0`, `5.0-beta.2`, `4.9.9+build7`, `4.9.9 (1234)`.
///
/// Numbers compare part by part, missing ones are 0; a pre-release is below its release, pre-releases compare as in
/// Semantic Versioning 2.0.0 section 11; what stands behind `+` or a blank does not count. Nothing is allocated: the
/// text is needed again to compare.
struct AppVersion {
  static let maximumParts = 8
  /// Bytes of a text that is looked at.
  static let maximumLength = 128

  private var parts = InlineArray<8, UInt64>(repeating: 0)
  /// Where in the text the pre-release is; empty: it is a release.
  private var prerelease = 0..<0

  /// Nil for what is no version.
  init?(_ text: Span<UInt8>) {
    guard text.count <= Self.maximumLength else { return nil }
    var index = 0
    if index < text.count, text[index] | 0x20 == UInt8(ascii: "v") { index += 1 }
    var number = 0
    while true {
      guard number < Self.maximumParts, let part = Self.number(text, &index) else { return nil }
      parts[number] = part
      number += 1
      guard index < text.count, text[index] == UInt8(ascii: ".") else { break }
      index += 1
    }
    guard index < text.count else { return }
    if text[index] == UInt8(ascii: "-") {
      let start = index + 1
      index = start
      while index < text.count, !Self.endsVersion(text[index]) { index += 1 }
      guard Self.isPrerelease(text.extracting(start..<index)) else { return nil }
      prerelease = start..<index
    }
    guard index == text.count || Self.endsVersion(text[index]) else { return nil }
  }

  private static func endsVersion(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "+") || byte == UInt8(ascii: " ") }

  /// Digits up to the first other byte; nil when there are none, or too many.
  private static func number(_ text: Span<UInt8>, _ index: inout Int) -> UInt64? {
    let start = index
    var value: UInt64 = 0
    while index < text.count, ASCII.isDigit(text[index]) {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(text[index] &- 48))
      if overflow || carry { return nil }
      value = sum
      index += 1
    }
    return index > start ? value : nil
  }

  /// Identifiers of letters, digits and hyphens with points between them.
  private static func isPrerelease(_ text: Span<UInt8>) -> Bool {
    var isEmpty = true
    for index in text.indices {
      let byte = text[index]
      if byte == UInt8(ascii: ".") {
        if isEmpty { return false }
        isEmpty = true
      } else {
        guard ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") else { return false }
        isEmpty = false
      }
    }
    return !isEmpty
  }

  // MARK: Order

  /// Less than 0, 0, or more than 0.
  ///
  /// - Parameters:
  ///   - text: what this version was read from.
  ///   - otherText: what the other one was read from.
  func compared(_ text: Span<UInt8>, to other: AppVersion, _ otherText: Span<UInt8>) -> Int {
    for index in 0..<Self.maximumParts where parts[index] != other.parts[index] {
      return parts[index] < other.parts[index] ? -1 : 1
    }
    if prerelease.isEmpty || other.prerelease.isEmpty {
      return prerelease.isEmpty == other.prerelease.isEmpty ? 0 : prerelease.isEmpty ? 1 : -1
    }
    return Self.order(text.extracting(prerelease), otherText.extracting(other.prerelease))
  }

  private static func order(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    var (one, other) = (0, 0)
    while one < left.count, other < right.count {
      let (first, second) = (end(left, one), end(right, other))
      let order = identifierOrder(left.extracting(one..<first), right.extracting(other..<second))
      if order != 0 { return order }
      (one, other) = (first + 1, second + 1)
    }
    // With all before them equal, more identifiers are more.
    return one < left.count ? 1 : other < right.count ? -1 : 0
  }

  private static func end(_ text: Span<UInt8>, _ start: Int) -> Int {
    var index = start
    while index < text.count, text[index] != UInt8(ascii: ".") { index += 1 }
    return index
  }

  /// Numbers by their value and below words; words byte by byte.
  private static func identifierOrder(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    let (first, second) = (digits(left), digits(right))
    if first != nil || second != nil {
      guard let first else { return 1 }
      guard let second else { return -1 }
      if first.count != second.count { return first.count < second.count ? -1 : 1 }
      return byteOrder(left.extracting(first), right.extracting(second))
    }
    return byteOrder(left, right)
  }

  /// The digits of a number without zeros before them; nil for a word.
  private static func digits(_ text: Span<UInt8>) -> Range<Int>? {
    for index in text.indices where !ASCII.isDigit(text[index]) { return nil }
    var start = 0
    while start < text.count - 1, text[start] == UInt8(ascii: "0") { start += 1 }
    return start..<text.count
  }

  private static func byteOrder(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    for index in 0..<Swift.min(left.count, right.count) where left[index] != right[index] {
      return left[index] < right[index] ? -1 : 1
    }
    return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
  }
}
