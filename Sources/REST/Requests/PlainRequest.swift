import Bytes
import ProtoJSON
import ProtobufSchema

/// What the values of most requests without a body are: fields of the request message itself, one value each, in the
/// order of their numbers.
///
/// Such a request needs no ``MessageTree``: its values are written to the message as they are read. Whatever is
/// otherwise, and whatever is wrong, is left to the tree, which has the last word and the errors.
struct PlainRequest: Sendable {
  struct Variable: Sendable {
    let field: Int
    let number: Int32
    let isMultiSegment: Bool
  }

  struct Parameter: Sendable {
    /// Into ``names``: the JSON spelling or that of the `.proto` file.
    let name: Range<Int>
    let field: Int
    let number: Int32
  }

  /// As many as the path has, in its order.
  let variables: [Variable]
  let parameters: [Parameter]
  let names: [UInt8]

  /// Names are compared one after the other; with more of them the tree is as fast.
  private static let maximumParameters = 64

  /// - Returns: nil when no request of the binding can be plain.
  init?(_ variables: [RESTBinding.Variable], body: RESTBinding.Body, input: Int, schema: Schema, codec: JSONCodec) {
    let fields = schema.messages[input].fields
    func isPlain(_ index: Int) -> Bool {
      fields[index].cardinality == .singular && fields[index].oneofIndex < 0 && index != body.field
        && codec.isTextual(message: input, field: index)
    }
    var bound: [Variable] = []
    for variable in variables {
      guard variable.fieldPath.count == 1, isPlain(variable.field) else { return nil }
      let number = fields[variable.field].number
      if let last = bound.last, last.number >= number { return nil }
      bound.append(
        Variable(field: variable.field, number: number, isMultiSegment: variable.capture.isMultiSegment))
    }
    self.variables = bound
    // With the whole message as its body a route has no parameters.
    switch body {
    case .none, .field: (parameters, names) = Self.parameters(of: schema.messages[input], where: isPlain)
    case .whole: (parameters, names) = ([], [])
    case .rawWhole, .rawField: return nil
    }
  }

  private static func parameters(
    of type: MessageType, where isPlain: (Int) -> Bool
  ) -> (parameters: [Parameter], names: [UInt8]) {
    var parameters: [Parameter] = []
    var names: [UInt8] = []
    var known: Set<String> = []
    for name in type.fields.map(\.jsonName) + type.fields.map(\.name) where known.insert(name).inserted {
      let utf8 = Array(name.utf8)
      // A dot leads into a message, but for a name that holds one itself. Names are compared as they are spelt: what
      // decoding would change is left to the tree.
      guard !utf8.contains(UInt8(ascii: ".")), PercentCoding.isLiteral(utf8.span),
        let field = RESTBinding.fieldIndex(utf8.span, in: type), isPlain(field)
      else { continue }
      let start = names.count
      names += utf8
      parameters.append(Parameter(name: start..<names.count, field: field, number: type.fields[field].number))
      if parameters.count == maximumParameters { break }
    }
    return (parameters, names)
  }

  /// The parameter of a name as it is spelt; nil when there is none that is plain.
  func parameter(named name: Span<UInt8>) -> Parameter? {
    for parameter in parameters where parameter.name.count == name.count {
      if ASCII.equal(name, names.span.extracting(parameter.name)) { return parameter }
    }
    return nil
  }
}

extension RESTBinding {
  /// Writes the message of a request without a body if its values are plain.
  ///
  /// - Returns: false for other requests, of which nothing is written.
  func decodePlain(
    _ path: Span<UInt8>, _ captures: [Range<Int>], _ query: Span<UInt8>, into wire: inout ByteBuffer
  ) -> Bool {
    guard let plain else { return false }
    let start = wire.count
    var scratch = ByteBuffer()
    guard let last = writePlain(path, captures, plain.variables, &scratch, into: &wire),
      query.isEmpty || writePlain(query, plain, behind: last, &scratch, into: &wire)
    else {
      wire.truncate(to: start)
      return false
    }
    return true
  }

  /// - Returns: the number of the last field that was written, 0 for none; nil when something is not plain.
  private func writePlain(
    _ path: Span<UInt8>, _ captures: [Range<Int>], _ variables: [PlainRequest.Variable], _ scratch: inout ByteBuffer,
    into wire: inout ByteBuffer
  ) -> Int32? {
    guard captures.count >= variables.count else { return nil }
    var last: Int32 = 0
    for index in variables.indices {
      let variable = variables[index]
      let capture = captures[index]
      guard capture.upperBound <= path.count else { return nil }
      let text = path.extracting(capture)
      let kind: PercentCoding.Decoding = variable.isMultiSegment ? .segments : .segment
      guard writePlain(text, as: kind, to: variable.field, &scratch, into: &wire) else { return nil }
      last = variable.number
    }
    return last
  }

  private func writePlain(
    _ query: Span<UInt8>, _ plain: PlainRequest, behind number: Int32, _ scratch: inout ByteBuffer,
    into wire: inout ByteBuffer
  ) -> Bool {
    var last = number
    var start = 0
    while start < query.count {
      var end = start
      var equals = -1
      while end < query.count, query[end] != UInt8(ascii: "&") {
        if equals < 0, query[end] == UInt8(ascii: "=") { equals = end }
        end &+= 1
      }
      // Without a value, or with an empty one, it depends on the profile what is meant.
      guard equals >= 0, end &- equals > 1,
        let parameter = plain.parameter(named: query.extracting(start..<equals)), parameter.number > last,
        writePlain(query.extracting(equals &+ 1..<end), as: .query, to: parameter.field, &scratch, into: &wire)
      else { return false }
      last = parameter.number
      start = end &+ 1
    }
    return true
  }

  private func writePlain(
    _ text: Span<UInt8>, as decoding: PercentCoding.Decoding, to field: Int, _ scratch: inout ByteBuffer,
    into wire: inout ByteBuffer
  ) -> Bool {
    if PercentCoding.isLiteral(text) {
      return (try? codec.decodeText(text, message: input, field: field, into: &wire)) != nil
    }
    scratch.removeAll()
    guard PercentCoding.decode(text, as: decoding, into: &scratch) == nil else { return false }
    return (try? codec.decodeText(scratch.span, message: input, field: field, into: &wire)) != nil
  }
}
