import Diagnostics
import ProtoJSON
import ProtobufSchema

/// The checks of one rule against its method's messages.
struct BindingCompiler {
  let schema: Schema
  let codec: JSONCodec

  // MARK: Path

  func bindVariables(_ parts: inout RESTBinding.Parts) throws(BindingError) {
    guard parts.template.captures.count <= 64 else { throw BindingError("a template has at most 64 variables") }
    for capture in parts.template.captures {
      let variable = try resolve(capture, in: parts.input)
      let sibling = parts.variables.first { shareOneof($0.fieldPath, variable.fieldPath, in: parts.input) }
      if let sibling {
        throw BindingError(
          "\(variable.name) and \(sibling.name) are members of one oneof: only one can be set", column: capture.column)
      }
      parts.variables.append(variable)
    }
  }

  private func resolve(_ capture: PathTemplate.Capture, in input: Int) throws(BindingError) -> RESTBinding.Variable {
    let names = capture.fieldPath.split(separator: ".").map(String.init)
    var message = input
    var path: [Int] = []
    for (depth, name) in names.enumerated() {
      let index = try fieldIndex(name, in: message, column: capture.column)
      path.append(index)
      let field = schema.messages[message].fields[index]
      if depth == names.count - 1 {
        guard field.cardinality == .singular, codec.isTextual(message: message, field: index) else {
          throw BindingError(
            "\(capture.fieldPath) cannot be part of a path: only a singular scalar, enum or message with a text form can",
            column: capture.column)
        }
        break
      }
      guard RESTBinding.isOpen(field, in: schema) else {
        throw BindingError("\(name) in \(capture.fieldPath) is no singular message with fields", column: capture.column)
      }
      message = field.messageIndex
    }
    return RESTBinding.Variable(capture: capture, fieldPath: path, parent: message)
  }

  private func shareOneof(_ left: [Int], _ right: [Int], in input: Int) -> Bool {
    var message = input
    for (one, other) in zip(left, right) {
      guard schema.messages.indices.contains(message) else { return false }
      let fields = schema.messages[message].fields
      if one != other { return fields[one].oneofIndex >= 0 && fields[one].oneofIndex == fields[other].oneofIndex }
      message = fields[one].messageIndex
    }
    return false
  }

  /// A field by its proto name, as HTTP rules spell fields.
  private func fieldIndex(_ name: String, in message: Int, column: Int? = nil) throws(BindingError) -> Int {
    let type = schema.messages[message]
    if let index = type.fields.firstIndex(where: { $0.name == name && $0.extensionName == nil }) { return index }
    let names = type.fields.filter { $0.extensionName == nil }.map(\.name)
    let all = names.isEmpty || names.count > 10 ? "" : "; it has \(names.joined(separator: ", "))"
    let cure = Nearest.match(name, in: names).map { "; did you mean \($0)?" } ?? all
    throw BindingError("\(type.fullName) has no field \(name)\(cure)", column: column)
  }

  // MARK: Bodies

  func bindBody(_ name: String?, _ parts: inout RESTBinding.Parts) throws(BindingError) {
    guard let name, !name.isEmpty else { return }
    if name == "*" {
      let isRaw = schema.messages[parts.input].wellKnown == .httpBody
      parts.body = isRaw ? .rawWhole : .whole
      return
    }
    let field = try topLevel(name, key: .body, in: parts.input)
    if let variable = parts.variables.first(where: { $0.fieldPath == [field] }) {
      throw BindingError(
        "body: \(name) is bound in the path already", column: variable.capture.column, part: .body)
    }
    parts.body = isHTTPBody(field, in: parts.input) ? .rawField(field) : .field(field)
    if case .rawField = parts.body, let variable = parts.variables.first(where: { $0.fieldPath.first == field }) {
      throw BindingError("\(variable.name) lies in a raw body", column: variable.capture.column)
    }
  }

  /// Which of the configured forms a body has: a scalar, a list and a map alone are neither protobuf nor form.
  func findTypes(_ configured: [BodyType], _ parts: inout RESTBinding.Parts) throws(BindingError) {
    parts.readableTypes = configured
    guard case .field(let index) = parts.body else { return }
    let field = schema.messages[parts.input].fields[index]
    if !RESTBinding.holdsMessage(field) { parts.readableTypes.removeAll { $0 == .protobuf } }
    if !RESTBinding.isOpen(field, in: schema) { parts.readableTypes.removeAll { $0 == .form } }
    guard !parts.readableTypes.isEmpty else {
      throw BindingError("body: \(field.name) can only be JSON, and body_types does not list json")
    }
  }

  func bindResponse(_ name: String?, _ parts: inout RESTBinding.Parts) throws(BindingError) {
    guard let name, !name.isEmpty else {
      if schema.messages[parts.output].wellKnown == .httpBody { parts.response = .raw }
      return
    }
    let field = try topLevel(name, key: .responseBody, in: parts.output)
    parts.response = isHTTPBody(field, in: parts.output) ? .rawField(field) : .field(field)
  }

  private func topLevel(_ name: String, key part: BindingError.Part, in message: Int) throws(BindingError) -> Int {
    let key = part == .body ? "body" : "response_body"
    if name.contains(".") { throw BindingError("\(key): \(name) is no top-level field", part: part) }
    do { return try fieldIndex(name, in: message) } catch {
      throw BindingError("\(key): \(error.message)", part: part)
    }
  }

  private func isHTTPBody(_ index: Int, in message: Int) -> Bool {
    let field = schema.messages[message].fields[index]
    guard field.kind == .message, field.cardinality == .singular else { return false }
    return schema.messages[field.messageIndex].wellKnown == .httpBody
  }

  /// PATCH with a message as body and exactly one FieldMask beside it: the mask is filled from the body.
  func findMask(_ parts: inout RESTBinding.Parts) {
    guard parts.httpMethod == "PATCH", case .field(let body) = parts.body else { return }
    let fields = schema.messages[parts.input].fields
    guard RESTBinding.isOpen(fields[body], in: schema) else { return }
    let masks = fields.indices.filter { index in
      let field = fields[index]
      return field.kind == .message && field.cardinality == .singular
        && schema.messages[field.messageIndex].wellKnown == .fieldMask
    }
    guard masks.count == 1, let mask = masks.first, !parts.variables.contains(where: { $0.fieldPath == [mask] })
    else { return }
    parts.maskField = mask
  }
}
