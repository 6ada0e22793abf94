import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

extension RESTBinding {
  /// Where parameters stand. Those of a query are named from the request message down, those of a form from what the
  /// body is.
  enum ParameterPlace {
    case query
    case form

    var name: String {
      switch self {
      case .query: "query"
      case .form: "form"
      }
    }

    func source(_ range: Range<Int>) -> MessageTree.Source {
      switch self {
      case .query: .query(range)
      case .form: .form(range)
      }
    }
  }

  /// Parameters of a form, whose size only the message's limit bounds.
  static let maximumFormParameters = 10_000
  /// Bytes of a parameter's name that an error shows.
  private static let maximumShownName = 256

  /// What the name of a parameter means.
  private enum Meaning {
    case field(parent: Int, index: Int)
    case unknown
    case refused(String)
  }

  /// Collects the values of a query (google/api/http.proto, "Query parameters"), or of a form, which is bound as one.
  func readQuery(
    _ query: Span<UInt8>, in place: ParameterPlace = .query, into tree: inout MessageTree
  ) throws(RPCError) {
    var name = ByteBuffer()
    var value = ByteBuffer()
    var start = 0
    var count = 0
    while start < query.count {
      var end = start
      while end < query.count, query[end] != UInt8(ascii: "&") { end &+= 1 }
      if end > start {
        count &+= 1
        guard place == .query || count <= Self.maximumFormParameters else {
          throw RPCError.badRequest(field: "", "a form has at most \(Self.maximumFormParameters) parameters")
        }
        try readParameter(query, start..<end, in: place, &name, &value, into: &tree)
      }
      start = end &+ 1
    }
  }

  private func readParameter(
    _ query: Span<UInt8>, _ range: Range<Int>, in place: ParameterPlace, _ name: inout ByteBuffer,
    _ value: inout ByteBuffer, into tree: inout MessageTree
  ) throws(RPCError) {
    var equals = range.lowerBound
    while equals < range.upperBound, query[equals] != UInt8(ascii: "=") { equals &+= 1 }
    let spelt = range.lowerBound..<equals
    name.removeAll()
    guard PercentCoding.decode(query.extracting(spelt), as: .query, into: &name) == nil else {
      throw RPCError.badRequest(
        field: Self.shown(query.extracting(spelt)), "a malformed escape in the name of a \(place.name) parameter"
      )
    }
    var meaning = meaning(of: name.span, in: place, &tree)
    if case .unknown = meaning, lists == .brackets, let length = Self.lengthBeforeBrackets(name.span) {
      let list = self.meaning(of: name.span.extracting(first: length), in: place, &tree)
      if case .field(let parent, let index) = list, schema.messages[parent].fields[index].cardinality == .repeated {
        meaning = list
      }
    }
    switch meaning {
    case .field(let parent, let index):
      var text = query.extracting(min(equals + 1, range.upperBound)..<range.upperBound)
      let isList = schema.messages[parent].fields[index].cardinality == .repeated
      if isList, lists == .commas {
        var isFirst = true
        // Only commas that are written as such part elements: an escaped one is data.
        while let comma = Self.comma(in: text) {
          guard place == .query || tree.leaves.count < Self.maximumFormParameters else {
            throw RPCError.badRequest(field: "", "a form has at most \(Self.maximumFormParameters) parameters")
          }
          let element = text.extracting(0..<comma)
          if try add(element, of: name, parent, index, place.source(spelt), &value, into: &tree) { tree.reopenPath() }
          text = text.extracting(comma &+ 1..<text.count)
          isFirst = false
        }
        // Nothing at all is an empty list.
        if isFirst, text.isEmpty { return }
      }
      _ = try add(text, of: name, parent, index, place.source(spelt), &value, into: &tree)
    case .unknown:
      if ignoresUnknownQuery || ignores(name.span) { return }
      let reason =
        place == .query && (body == .whole || body == .rawWhole)
        ? "unknown query parameter; all fields of this route are in the body" : "unknown \(place.name) parameter"
      throw RPCError.badRequest(field: Self.shown(name.span), reason)
    case .refused(let reason):
      if ignores(name.span) { return }
      throw RPCError.badRequest(field: Self.shown(name.span), reason)
    }
  }

  /// Adds one value, still escaped; false for one that says nothing.
  private func add(
    _ text: Span<UInt8>, of name: borrowing ByteBuffer, _ parent: Int, _ index: Int, _ source: MessageTree.Source,
    _ value: inout ByteBuffer, into tree: inout MessageTree
  ) throws(RPCError) -> Bool {
    if text.isEmpty, codec.isAbsentWhenEmpty(message: parent, field: index) { return false }
    value.removeAll()
    guard PercentCoding.decode(text, as: .query, into: &value) == nil else {
      throw RPCError.badRequest(field: Self.shown(name.span), "a malformed escape in the value")
    }
    let start = tree.values.count
    do throws(JSONError) {
      try codec.decodeText(value.span, message: parent, field: index, into: &tree.values)
    } catch {
      throw RPCError.badRequest(field: Self.shown(name.span), error.reason)
    }
    tree.add(valueFrom: start, source: source)
    return true
  }

  private static func comma(in text: Span<UInt8>) -> Int? {
    for index in text.indices where text[index] == UInt8(ascii: ",") { return index }
    return nil
  }

  /// The length of a name without `[]` or `[0]` at its end; nil when it has none.
  private static func lengthBeforeBrackets(_ name: Span<UInt8>) -> Int? {
    guard name.count > 2, name[name.count &- 1] == UInt8(ascii: "]") else { return nil }
    var index = name.count &- 2
    while index > 0, ASCII.isDigit(name[index]) { index &-= 1 }
    return index > 0 && name[index] == UInt8(ascii: "[") ? index : nil
  }

  /// A name as an error shows it: cut, because a form's may be as long as a message, and the error holds it twice.
  private static func shown(_ name: Span<UInt8>) -> String {
    guard name.count > maximumShownName else { return String(repairing: name) }
    return String(repairing: name.extracting(first: maximumShownName)) + "…"
  }

  private func ignores(_ name: Span<UInt8>) -> Bool {
    for pattern in ignoredQuery where pattern.matches(name) { return true }
    return false
  }

  /// Follows a dotted name through the messages; the tree's open path is then the field's.
  private func meaning(of name: Span<UInt8>, in place: ParameterPlace, _ tree: inout MessageTree) -> Meaning {
    tree.beginPath()
    var message = input
    switch place {
    case .query: if body == .whole || body == .rawWhole { return .unknown }
    case .form:
      if let index = body.field {
        let field = schema.messages[input].fields[index]
        tree.descend(to: index, number: field.number)
        message = field.messageIndex
      }
    }
    var start = 0
    var depth = 1
    while true {
      guard depth <= codec.maximumDepth else {
        return .refused("at most \(codec.maximumDepth) levels of messages expected")
      }
      let type = schema.messages[message]
      guard let (index, end) = Self.field(at: start, of: name, in: type) else { return .unknown }
      let field = type.fields[index]
      if place == .query, start == 0, index == body.field {
        return .refused("this field is in the body, not in the query")
      }
      if field.cardinality == .map { return .refused("a map cannot come from a \(place.name)") }
      tree.descend(to: index, number: field.number)
      if end == name.count {
        if codec.isTextual(message: message, field: index) { return .field(parent: message, index: index) }
        return field.cardinality == .repeated
          ? .refused("a repeated message cannot come from a \(place.name)")
          : .refused("a message cannot come from a \(place.name), only its fields can")
      }
      guard Self.isOpen(field, in: schema) else {
        return field.cardinality == .repeated && field.messageIndex >= 0
          ? .refused("fields of a repeated message cannot come from a \(place.name)")
          : .refused("\(field.jsonName) has no fields that a \(place.name) could name")
      }
      message = field.messageIndex
      start = end &+ 1
      depth &+= 1
    }
  }

  /// The field whose name stands at a place of a dotted name, and where that ends.
  private static func field(at start: Int, of name: Span<UInt8>, in type: MessageType) -> (index: Int, end: Int)? {
    var end = start
    while end < name.count, name[end] != UInt8(ascii: ".") { end &+= 1 }
    if let index = fieldIndex(name.extracting(start..<end), in: type) { return (index, end) }
    // A JSON name may hold dots itself; what is longer than all of them is none, however many dots follow.
    let longest = type.fields.lazy.map(\.jsonName.utf8.count).max() ?? 0
    while end < name.count {
      end &+= 1
      while end < name.count, name[end] != UInt8(ascii: ".") { end &+= 1 }
      guard end &- start <= longest else { return nil }
      if let index = fieldIndex(name.extracting(start..<end), in: type) { return (index, end) }
    }
    return nil
  }

  /// By JSON name, else by proto name: one field may be named in JSON as another is in the `.proto` file.
  static func fieldIndex(_ name: Span<UInt8>, in type: MessageType) -> Int? {
    type.fields.firstIndex { spells(name, $0.jsonName) } ?? type.fields.firstIndex { spells(name, $0.name) }
  }

  private static func spells(_ bytes: Span<UInt8>, _ text: String) -> Bool {
    let utf8 = text.utf8
    guard utf8.count == bytes.count else { return false }
    var index = 0
    for byte in utf8 {
      if byte != bytes[index] { return false }
      index &+= 1
    }
    return true
  }
}
