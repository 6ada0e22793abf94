import Diagnostics

/// A text as it stands for, and as it may be shown.
struct Text {
  var value: String
  var position: SourcePosition
  /// In backticks; the text as written when the value is a secret.
  var shown: String
  var isSecret = false
}

extension LoadContext {
  /// Reads a value when it is there and lays it over what stands.
  func read<Value>(_ node: Node?, into target: inout Value, _ reader: (Node) -> Value?) {
    if let node, let value = reader(node) { target = value }
  }

  /// The same for an optional target.
  func read<Value>(_ node: Node?, into target: inout Value?, _ reader: (Node) -> Value?) {
    if let node, let value = reader(node) { target = value }
  }

  /// Any text, with its `${…}` replaced; a fault for lists, mappings and nothing.
  func text(_ node: Node, _ wanted: String = "text") -> Text? {
    guard case .scalar(let scalar) = node.content, !node.isNull else {
      error(node.position, "\(wanted) belongs here, not \(node.kindName)")
      return nil
    }
    return interpolate(scalar.text, at: node.position)
  }

  /// Text that is not empty.
  func name(_ node: Node, _ wanted: String) -> Text? {
    guard let text = text(node, wanted) else { return nil }
    guard !text.value.isEmpty else {
      error(node.position, "\(wanted) belongs here, not an empty text")
      return nil
    }
    return text
  }

  func boolean(_ node: Node) -> Bool? {
    guard let text = text(node, "true or false") else { return nil }
    switch text.value.lowercased() {
    case "true", "on", "yes": return true
    case "false", "off", "no": return false
    default:
      error(node.position, "\(text.shown) is not true or false", cure: "write `true` or `false`")
      return nil
    }
  }

  func integer(_ node: Node, _ range: ClosedRange<Int>) -> Int? {
    guard let text = text(node, "a number") else { return nil }
    let bounds = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard let value = Quantity.integer(text.value) else {
      error(node.position, "\(text.shown) is not \(bounds)", cure: "write one without unit, point or sign")
      return nil
    }
    guard range.contains(value) else {
      error(node.position, "\(text.shown) is out of bounds", cure: "write \(bounds)")
      return nil
    }
    return value
  }

  /// One of the words of an enumeration.
  ///
  /// - Parameters:
  ///   - what: With its article: `a stage`.
  ///   - notYet: Words of the product that this version does not know.
  func word<Word: RawRepresentable<String> & CaseIterable>(
    _ node: Node, _ what: String, notYet: Set<String> = []
  ) -> Word? {
    guard let text = text(node, what) else { return nil }
    if let word = Word(rawValue: text.value) { return word }
    let words = Word.allCases.map(\.rawValue)
    if notYet.contains(text.value), !text.isSecret {
      error(
        node.position, "the \(what.drop { $0 != " " }.dropFirst()) \(text.shown) is not supported by this version",
        cure: "it supports \(listed(words))")
    } else {
      let near = text.isSecret ? nil : nearest(text.value, in: words)
      error(
        node.position, "\(text.shown) is not \(what)",
        cure: near.map { "did you mean \(quoted($0))?" } ?? "write \(listed(words, "or"))")
    }
    return nil
  }

  func duration(_ node: Node, zeroAllowed: Bool = false) -> Duration? {
    quantity(node, "a duration") { text throws(QuantityFault) in
      let duration = try Quantity.duration(text)
      if duration == .zero, !zeroAllowed { throw QuantityFault("is not more than 0", cure: "write one as in `5s`") }
      return duration
    }
  }

  func size(_ node: Node, _ range: ClosedRange<Int>) -> Int? {
    quantity(node, "a size") { text throws(QuantityFault) in
      let size = try Quantity.size(text)
      guard range.contains(size) else {
        throw QuantityFault(
          "is out of bounds",
          cure: "write one from \(Quantity.sizeText(range.lowerBound)) to \(Quantity.sizeText(range.upperBound))")
      }
      return size
    }
  }

  /// How many times something may be something else, from 1 to 1000, in hundredths: `2`, `1.5`.
  func ratio(_ node: Node) -> Int? {
    guard let text = text(node, "a number") else { return nil }
    guard let hundredths = Quantity.decimal(text.value, places: 2), (100...100_000).contains(hundredths) else {
      error(
        node.position, "\(text.shown) is not a ratio",
        cure: "write a number from 1 to 1000 with at most two decimals, as in `1.5`")
      return nil
    }
    return hundredths
  }

  /// Parts per 10,000.
  func share(_ node: Node) -> Int? {
    quantity(node, "a share") { text throws(QuantityFault) in try Quantity.share(text) }
  }

  private func quantity<Value>(
    _ node: Node, _ wanted: String, _ parse: (String) throws(QuantityFault) -> Value
  ) -> Value? {
    guard let text = text(node, wanted) else { return nil }
    do throws(QuantityFault) {
      return try parse(text.value)
    } catch {
      let cure = text.isSecret ? error.plainCure : error.cure
      self.error(node.position, "\(text.shown) \(error.what)", cure: cure)
      return nil
    }
  }
}
