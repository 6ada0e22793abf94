import ProtoJSON
import ProtobufSchema

extension BindingCompiler {
  /// Whether a message can be sent to a REST backend by this rule, and which fields cannot.
  func judgeReverse(_ method: MethodType, _ parts: inout RESTBinding.Parts) {
    if parts.httpMethod == "*" {
      parts.reverseFault = "the rule takes any HTTP method; towards a REST backend one must be named"
    } else if let fault = streamFault(method, parts.body) {
      parts.reverseFault = fault
    } else if hasOpenWildcard(parts.template) {
      parts.reverseFault = "a * of \(parts.template.text) has no variable: nothing says what to put there"
    }
    switch parts.body {
    case .whole, .rawWhole: return
    case .none, .field, .rawField: break
    }
    var open: Set<Int> = [parts.input]
    let fields = schema.messages[parts.input].fields
    for index in fields.indices where index != parts.body.field {
      collectUnsendable(fields[index], at: index, of: parts.input, "", &open, &parts.unsendableFields)
    }
    let bound = Set(parts.variables.map(\.name))
    parts.unsendableFields.removeAll { bound.contains($0) }
  }

  /// A REST backend is asked with one message, and answers with one or many. Of a client's stream only raw bytes are a
  /// request.
  private func streamFault(_ method: MethodType, _ body: RESTBinding.Body) -> String? {
    guard method.isClientStreaming else { return nil }
    if method.isServerStreaming {
      return "\(method.name) streams both ways, and a REST request is whole before it is answered"
    }
    switch body {
    case .rawWhole, .rawField: return nil
    case .none, .whole, .field:
      return "\(method.name) streams from the client, and a REST request is one message; only a rule whose body is a "
        + "google.api.HttpBody takes a stream, as an upload"
    }
  }

  private func hasOpenWildcard(_ template: PathTemplate) -> Bool {
    template.segments.indices.contains { index in
      template.segments[index] == .wildcard && !template.captures.contains { $0.segments.contains(index) }
    }
  }

  /// Each message type is entered once: a recursive one adds nothing new.
  private func collectUnsendable(
    _ field: Field, at index: Int, of message: Int, _ prefix: String, _ open: inout Set<Int>,
    _ unsendable: inout [String]
  ) {
    guard unsendable.count < 64 else { return }
    let name = prefix + field.name
    if field.cardinality != .map, codec.isTextual(message: message, field: index) { return }
    guard RESTBinding.isOpen(field, in: schema) else {
      if field.cardinality == .singular, field.messageIndex >= 0,
        schema.messages[field.messageIndex].wellKnown == .empty
      {
        return
      }
      unsendable.append(name)
      return
    }
    guard open.insert(field.messageIndex).inserted else { return }
    let inner = schema.messages[field.messageIndex].fields
    for index in inner.indices {
      collectUnsendable(inner[index], at: index, of: field.messageIndex, name + ".", &open, &unsendable)
    }
  }
}
