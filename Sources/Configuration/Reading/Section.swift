/// The names of the keys of one kind of mapping.
protocol SectionKey: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

/// Why a key that somebody may well write does not stand in a section.
enum KeyHint: Sendable {
  /// It belongs to the product, not to this version; the text says what there is instead.
  case notYet(String)
  /// It is known elsewhere; the text says where.
  case misplaced(String)
  /// Another product's word for this key of the section.
  case means(String)
}

/// One kind of mapping: what it is called in messages, and its keys.
struct Section<Key: SectionKey>: Sendable {
  /// With its article: `a service`.
  var name: String
  var keys: [Key]
  var hints: [String: KeyHint]
  /// The key that a value is probably for which stands in place of the mapping: `canary: 10%`.
  var shorthand: Key?
  /// Of another product's files: not of our reference, and its keys may be spelt in lowerCamelCase too (ProtoJSON).
  var isForeign: Bool

  init(
    _ name: String, keys: [Key] = Array(Key.allCases), hints: [String: KeyHint] = [:], shorthand: Key? = nil,
    isForeign: Bool = false
  ) {
    self.name = name
    self.keys = keys
    self.hints = hints
    self.shorthand = shorthand
    self.isForeign = isForeign
  }

  /// The key that a file spells so.
  func key(_ spelt: String) -> Key? {
    let name = isForeign ? spelt.map { $0.isUppercase ? "_\($0.lowercased())" : String($0) }.joined() : spelt
    return Key(rawValue: name).flatMap { keys.contains($0) ? $0 : nil }
  }

  var known: KnownSection { KnownSection(name: name, keys: keys.map(\.rawValue)) }
}

/// A section for those who only want the names.
struct KnownSection {
  var name: String
  var keys: [String]
}
