package import Bytes
import ProtoJSON
import ProtobufSchema
package import RPC

extension RESTBinding {
  /// Makes the request message of a REST request.
  ///
  /// - Parameters:
  ///   - path: not decoded; `captures` are ranges in it, as the trie found them.
  ///   - query: not decoded, without `?`.
  ///   - contentType: the field's value; nil when there is none.
  ///   - unknown: gets the paths of JSON members that were dropped.
  ///   - wire: the message's bytes are appended; after an error it may hold a part of them.
  /// - Throws: `invalid_argument` naming the field; with status 415 for a body in a form that the route does not read.
  package func decodeRequest(
    path: Span<UInt8>, captures: [Range<Int>], query: Span<UInt8>, contentType: Span<UInt8>?, body content: Span<UInt8>,
    unknown: inout [String], into wire: inout ByteBuffer
  ) throws(RPCError) {
    let type = try bodyType(contentType, isEmpty: content.isEmpty)
    if type == nil, content.isEmpty, decodePlain(path, captures, query, into: &wire) { return }
    var tree = MessageTree(schema, message: input)
    // A form is parameters, as the path and the query are: they meet in the tree.
    let bound = try readPath(path, captures, boundInBody: type == .json || type == .protobuf, into: &tree)
    try readQuery(query, into: &tree)
    switch body {
    case .none:
      if !content.isEmpty { throw RPCError.badRequest(field: "", "this route takes no body") }
      try write(&tree, query, into: &wire)
    case .whole:
      switch type {
      case nil: try write(&tree, query, into: &wire)
      case .form: try decodeForm(content, query, tree: &tree, into: &wire)
      case .json, .protobuf:
        var outcome = DecodingOutcome()
        do throws(JSONError) {
          if type == .json {
            try codec.decode(content, message: input, bound: bound, outcome: &outcome, into: &wire)
          } else {
            try codec.check(content, message: input, bound: bound, outcome: &outcome, into: &wire)
          }
        } catch { throw Self.refusal(error, of: type) }
        unknown += outcome.unknownFields
      }
    case .field(let field):
      switch type {
      case nil: try write(&tree, query, into: &wire)
      case .form: try decodeForm(content, query, tree: &tree, into: &wire)
      case .json, .protobuf:
        try decodeBodyField(
          field, content, type, bound: bound, query, unknown: &unknown, tree: &tree, into: &wire)
      }
    case .rawWhole:
      try write(&tree, query, into: &wire)
      try HTTPBody.write(contentType, content, into: &wire)
    case .rawField(let field):
      let isPresent = contentType != nil || !content.isEmpty
      if isPresent, let sibling = tree.sibling(of: field) { throw bodyConflict(field, sibling, query) }
      guard isPresent else { return try write(&tree, query, into: &wire) }
      let number = schema.messages[input].fields[field].number
      try write(&tree, query, only: 1...number, into: &wire)
      wire.append(tag: UInt32(bitPattern: number), .lengthDelimited)
      let start = wire.beginLengthDelimited()
      try HTTPBody.write(contentType, content, into: &wire)
      wire.endLengthDelimited(start)
      try write(&tree, query, only: number...Int32.max, into: &wire)
    }
  }

  // MARK: Path

  /// Decodes the captures.
  ///
  /// - Parameter boundInBody: whether there is a body: variables that lie in its field are then bound in it.
  /// - Returns: those, with paths relative to what the body is decoded into; the others are in the tree.
  func readPath(
    _ path: Span<UInt8>, _ captures: [Range<Int>], boundInBody: Bool, into tree: inout MessageTree
  ) throws(RPCError) -> [BoundField] {
    var bound: [BoundField] = []
    var text = ByteBuffer()
    for (index, variable) in variables.enumerated() {
      guard captures.indices.contains(index), captures[index].upperBound <= path.count else {
        throw RPCError(.internal, "the path was matched by another template")
      }
      text.removeAll()
      let kind: PercentCoding.Decoding = variable.capture.isMultiSegment ? .segments : .segment
      guard PercentCoding.decode(path.extracting(captures[index]), as: kind, into: &text) == nil else {
        throw RPCError.badRequest(field: variable.name, "a malformed escape in the path")
      }
      let start = tree.values.count
      do throws(JSONError) {
        try codec.decodeText(text.span, message: variable.parent, field: variable.field, into: &tree.values)
      } catch {
        throw RPCError.badRequest(field: variable.name, error.reason)
      }
      if boundInBody, let relative = pathInBody(of: variable) {
        bound.append(BoundField(fieldPath: relative, wire: tree.takeValue(from: start)))
      } else {
        add(index, valueFrom: start, to: &tree)
      }
    }
    return bound
  }

  /// A variable's field path from the message that a JSON body is decoded into; nil when it lies outside.
  private func pathInBody(of variable: Variable) -> [Int]? {
    switch body {
    case .whole: variable.fieldPath
    case .field(let field) where variable.fieldPath.first == field: Array(variable.fieldPath.dropFirst())
    case .none, .field, .rawWhole, .rawField: nil
    }
  }

  private func add(_ index: Int, valueFrom start: Int, to tree: inout MessageTree) {
    tree.beginPath()
    var message = input
    for step in variables[index].fieldPath {
      let field = schema.messages[message].fields[step]
      tree.descend(to: step, number: field.number)
      message = field.messageIndex
    }
    tree.add(valueFrom: start, source: .variable(index))
  }

  // MARK: Body

  private func decodeBodyField(
    _ field: Int, _ content: Span<UInt8>, _ type: BodyType?, bound: [BoundField], _ query: Span<UInt8>,
    unknown: inout [String], tree: inout MessageTree, into wire: inout ByteBuffer
  ) throws(RPCError) {
    var collectsMask = false
    if let maskField, !tree.holds(field: maskField) { collectsMask = true }
    var outcome = DecodingOutcome(collectsMask: collectsMask)
    let number = schema.messages[input].fields[field].number
    try write(&tree, query, only: 1...number, into: &wire)
    let start = wire.count
    do throws(JSONError) {
      if type == .json {
        try codec.decodeField(content, message: input, field: field, bound: bound, outcome: &outcome, into: &wire)
      } else {
        try codec.checkField(content, message: input, field: field, bound: bound, outcome: &outcome, into: &wire)
      }
    } catch { throw Self.refusal(error, of: type) }
    unknown += outcome.unknownFields
    // `null` leaves the field unset.
    if wire.count > start, let sibling = tree.sibling(of: field) { throw bodyConflict(field, sibling, query) }
    if collectsMask, let maskField { writeMask(maskField, outcome.maskPaths, into: &wire) }
    try write(&tree, query, only: number...Int32.max, into: &wire)
  }

  /// The parameters of a form, beside those of path and query.
  private func decodeForm(
    _ form: Span<UInt8>, _ query: Span<UInt8>, tree: inout MessageTree, into wire: inout ByteBuffer
  ) throws(RPCError) {
    try readQuery(form, in: .form, into: &tree)
    if let maskField, let field = body.field, !tree.holds(field: maskField) {
      let mask = formMask(tree, schema.messages[input].fields[field].messageIndex)
      let start = tree.values.count
      writeMask(maskField, mask, into: &tree.values)
      tree.beginPath()
      tree.descend(to: maskField, number: schema.messages[input].fields[maskField].number)
      tree.add(valueFrom: start, source: .form(0..<0))
    }
    try write(&tree, query, form, into: &wire)
  }

  /// One path for each field that the form names.
  private func formMask(_ tree: borrowing MessageTree, _ message: Int) -> [String] {
    var paths: [String] = []
    var known: Set<String> = []
    tree.forEachFormPath { steps in
      var names: [String] = []
      var owner = message
      for step in steps.dropFirst() {
        let field = schema.messages[owner].fields[step.field]
        names.append(field.name)
        owner = field.messageIndex
      }
      let path = names.joined(separator: ".")
      if known.insert(path).inserted { paths.append(path) }
    }
    return paths
  }

  private func writeMask(_ field: Int, _ paths: [String], into wire: inout ByteBuffer) {
    wire.append(tag: UInt32(bitPattern: schema.messages[input].fields[field].number), .lengthDelimited)
    let mask = wire.beginLengthDelimited()
    for path in paths {
      wire.append(tag: 1, .lengthDelimited)
      wire.append(varint: UInt64(path.utf8.count))
      wire.append(text: path)
    }
    wire.endLengthDelimited(mask)
  }

  // MARK: Refusals

  private static func refusal(_ error: JSONError, of type: BodyType?) -> RPCError {
    // Without a path only the offset says where; in what nobody reads the path alone does not help.
    let reason =
      error.path.isEmpty || type == .protobuf ? "\(error.reason) (at byte \(error.offset) of the body)" : error.reason
    return RPCError.badRequest(field: error.path, reason)
  }

  func write(
    _ tree: inout MessageTree, _ query: Span<UInt8>, _ form: Span<UInt8> = Span(),
    only numbers: ClosedRange<Int32> = 1...Int32.max, into wire: inout ByteBuffer
  ) throws(RPCError) {
    do throws(MessageTree.Conflict) {
      try tree.write(numbers, into: &wire)
    } catch {
      let first = name(of: error.first, query, form)
      let second = name(of: error.second, query, form)
      switch error.kind {
      case .repeated: throw RPCError.badRequest(field: second, "given twice")
      case .oneof: throw RPCError.badRequest(field: second, "cannot be set beside \(first): only one of them can")
      case .path: throw RPCError.badRequest(field: second, "contradicts \(first) in the path")
      }
    }
  }

  func bodyConflict(_ field: Int, _ sibling: MessageTree.Source, _ query: Span<UInt8>) -> RPCError {
    let body = schema.messages[input].fields[field].jsonName
    return RPCError.badRequest(
      field: name(of: sibling, query), "cannot be set beside \(body), which is the body: only one of them can")
  }

  private func name(
    of source: MessageTree.Source, _ query: Span<UInt8>, _ form: Span<UInt8> = Span()
  ) -> String {
    switch source {
    case .variable(let index): return variables[index].name
    case .query(let range): return Self.parameterName(query, range)
    case .form(let range): return Self.parameterName(form, range)
    }
  }

  private static func parameterName(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
    var decoded = ByteBuffer()
    _ = PercentCoding.decode(text.extracting(range), as: .query, into: &decoded)
    return String(repairing: decoded.span)
  }
}
