import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

extension RESTBinding {
  /// Appends the path, variables filled in from the message.
  func writePath(_ wire: Span<UInt8>, into target: inout ByteBuffer) throws(RPCError) {
    var text = ByteBuffer()
    var segment = 0
    for variable in variables {
      writeSegments(segment..<variable.capture.segments.lowerBound, into: &target)
      text.removeAll()
      try readText(of: variable, wire, into: &text)
      target.append(UInt8(ascii: "/"))
      if let reason = misfit(text.span, variable.capture) {
        throw RPCError.badRequest(field: variable.name, reason)
      }
      if text.isEmpty {
        // `**` of no segment: no slash either.
        target.truncate(to: target.count - 1)
      }
      PercentCoding.encode(text.span, into: &target, keepingSlashes: variable.capture.isMultiSegment)
      segment = variable.capture.segments.upperBound
    }
    writeSegments(segment..<template.segments.count, into: &target)
    if let verb = template.verb {
      target.append(UInt8(ascii: ":"))
      target.append(text: verb.text)
    }
  }

  /// Literals; a `**` without a variable stands for no segment.
  private func writeSegments(_ range: Range<Int>, into target: inout ByteBuffer) {
    for segment in template.segments[range] {
      guard case .literal(let literal) = segment else { continue }
      target.append(UInt8(ascii: "/"))
      target.append(text: literal.text)
    }
  }

  private func readText(of variable: Variable, _ wire: Span<UInt8>, into text: inout ByteBuffer) throws(RPCError) {
    let field = schema.messages[variable.parent].fields[variable.field]
    if field.kind == .message { return try readMessageText(of: variable, wire, into: &text) }
    var found: Range<Int>?
    do throws(WireError) {
      try WireSearch.last(variable.fieldPath[...], of: input, in: schema, wire, 0..<wire.count, found: &found)
    } catch {
      throw Self.malformed(error)
    }
    if found == nil, field.hasPresence { throw Self.unset(variable) }
    do throws(JSONError) {
      if let found {
        try codec.encodeText(wire.extracting(found), message: variable.parent, field: variable.field, into: &text)
      } else {
        let zero = Self.zero(of: field.kind)
        try codec.encodeText(zero.span, message: variable.parent, field: variable.field, into: &text)
      }
    } catch {
      throw RPCError.badRequest(field: variable.name, error.reason)
    }
  }

  /// Of a well-known type, whose parts are put together.
  private func readMessageText(
    of variable: Variable, _ wire: Span<UInt8>, into text: inout ByteBuffer
  ) throws(RPCError) {
    var parts = ByteBuffer()
    var isSet = false
    do throws(WireError) {
      try WireSearch.join(
        variable.fieldPath[...], of: input, in: schema, wire, 0..<wire.count, isSet: &isSet, into: &parts)
    } catch { throw Self.malformed(error) }
    guard isSet else { throw Self.unset(variable) }
    do throws(JSONError) {
      try codec.encodeText(parts.span, message: variable.parent, field: variable.field, into: &text)
    } catch { throw RPCError.badRequest(field: variable.name, error.reason) }
  }

  private static func unset(_ variable: Variable) -> RPCError {
    RPCError.badRequest(field: variable.name, "must be set: it is a part of the REST backend's path")
  }

  /// The payload of a field's default.
  private static func zero(of kind: Field.Kind) -> [UInt8] {
    switch WireSearch.wireType(of: kind) {
    case .varint: [0]
    case .fixed32: [0, 0, 0, 0]
    case .fixed64: [0, 0, 0, 0, 0, 0, 0, 0]
    case .lengthDelimited, .startGroup, .endGroup: []
    }
  }

  // MARK: Fit

  /// Why a value does not fit its variable; nil when it does.
  ///
  /// Dot segments are refused however the slash between them is written: backends decode `%2F` before they resolve
  /// dots.
  private func misfit(_ text: Span<UInt8>, _ capture: PathTemplate.Capture) -> String? {
    if holdsDotSegment(text) { return "a dot segment cannot be a part of a path" }
    let pattern = template.segments[capture.segments]
    guard capture.isMultiSegment else {
      if text.isEmpty { return "must not be empty: it is a part of the REST backend's path" }
      if case .literal(let literal)? = pattern.first, !ASCII.equal(text, literal.bytes.span) {
        return "must be \(literal.text)"
      }
      return nil
    }
    let reason = "does not fit {\(capture.fieldPath)} of \(template.text)"
    var start = 0
    for segment in pattern {
      if segment == .deepWildcard { return start > text.count || hasNoEmptySegment(text, from: start) ? nil : reason }
      guard start <= text.count else { return reason }
      var end = start
      while end < text.count, text[end] != UInt8(ascii: "/") { end += 1 }
      guard end > start else { return reason }
      if case .literal(let literal) = segment, !ASCII.equal(text.extracting(start..<end), literal.bytes.span) {
        return reason
      }
      start = end + 1
    }
    return start == text.count + 1 ? nil : reason
  }

  private func hasNoEmptySegment(_ text: Span<UInt8>, from start: Int) -> Bool {
    if start == text.count { return start == 0 }
    var wasSlash = true
    for index in start..<text.count {
      let isSlash = text[index] == UInt8(ascii: "/")
      if isSlash, wasSlash { return false }
      wasSlash = isSlash
    }
    return !wasSlash
  }

  private func holdsDotSegment(_ text: Span<UInt8>) -> Bool {
    // Length and dots of the current segment.
    var length = 0
    var dots = 0
    var index = 0
    while index < text.count {
      let width = slashWidth(text, at: index)
      if width > 0 {
        if length == dots, length == 1 || length == 2 { return true }
        length = 0
        dots = 0
        index += width
      } else {
        length += 1
        if text[index] == UInt8(ascii: ".") { dots += 1 }
        index += 1
      }
    }
    return length == dots && (length == 1 || length == 2)
  }

  /// Of a slash, a backslash, or an escape of one; 0 for anything else.
  private func slashWidth(_ text: Span<UInt8>, at index: Int) -> Int {
    if text[index] == UInt8(ascii: "/") || text[index] == UInt8(ascii: "\\") { return 1 }
    guard text[index] == UInt8(ascii: "%"), text.count - index >= 3 else { return 0 }
    let low = text[index + 2] | 0x20
    let isSlash = text[index + 1] == UInt8(ascii: "2") && low == UInt8(ascii: "f")
    return isSlash || text[index + 1] == UInt8(ascii: "5") && low == UInt8(ascii: "c") ? 3 : 0
  }
}
