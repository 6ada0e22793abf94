import ProtoJSON
import ProtobufSchema

/// One HTTP rule of one method, compiled: REST requests to messages and back, messages to REST answers and back.
package final class RESTBinding: Sendable {
  /// A variable of the template and the field that it binds.
  struct Variable: Sendable {
    let capture: PathTemplate.Capture
    /// Indices into ``MessageType/fields`` from the request message down.
    let fieldPath: [Int]
    /// The message that holds the last field of the path.
    let parent: Int

    var field: Int { fieldPath.last ?? 0 }
    var name: String { capture.fieldPath }
  }

  enum Body: Sendable, Equatable {
    case none
    case whole
    case field(Int)
    /// The request message is a `google.api.HttpBody`.
    case rawWhole
    /// The field is a `google.api.HttpBody`.
    case rawField(Int)

    /// The top-level field that only the body fills.
    var field: Int? {
      switch self {
      case .field(let field), .rawField(let field): field
      case .none, .whole, .rawWhole: nil
      }
    }
  }

  enum Response: Sendable, Equatable {
    case message
    case field(Int)
    case raw
    case rawField(Int)
  }

  package let template: PathTemplate
  /// A method token, or `*` for any.
  package let httpMethod: String
  /// Why calls cannot be translated towards a REST backend by this rule; nil when they can.
  package let reverseFault: String?
  /// Fields that would have to go into the query towards a REST backend and cannot, by proto path: a message that sets
  /// one is refused. For a warning when the backend is REST.
  package let unsendableFields: [String]

  let schema: Schema
  let codec: JSONCodec
  let input: Int
  let output: Int
  let variables: [Variable]
  let body: Body
  let response: Response
  /// The top-level FieldMask that a PATCH fills from its body.
  let maskField: Int?
  let ignoresUnknownQuery: Bool
  let ignoredQuery: [NamePattern]
  let lists: QueryLists
  /// As configured.
  let bodyTypes: [BodyType]
  /// Those of ``bodyTypes`` that the request's body has.
  let readableTypes: [BodyType]
  /// Nil when the values of a request never are fields of the message itself, in order.
  let plain: PlainRequest?

  init(_ parts: Parts, schema: Schema, codec: JSONCodec, settings: BindingSettings) {
    template = parts.template
    httpMethod = parts.httpMethod
    reverseFault = parts.reverseFault
    unsendableFields = parts.unsendableFields
    self.schema = schema
    self.codec = codec
    input = parts.input
    output = parts.output
    variables = parts.variables
    body = parts.body
    response = parts.response
    maskField = parts.maskField
    ignoresUnknownQuery = settings.ignoresUnknownQuery
    ignoredQuery = settings.ignoredQuery.map(NamePattern.init)
    lists = settings.lists
    bodyTypes = settings.bodyTypes
    readableTypes = parts.readableTypes
    plain = PlainRequest(parts.variables, body: parts.body, input: parts.input, schema: schema, codec: codec)
  }

  /// The fields that the path holds, by proto path.
  package var pathFields: [String] { variables.map(\.name) }

  /// What the request's body fills, as in the rule: `*`, or a top-level field by its proto name. Nil without a body.
  package var bodyName: String? {
    switch body {
    case .none: nil
    case .whole, .rawWhole: "*"
    case .field(let field), .rawField(let field): schema.messages[input].fields[field].name
    }
  }

  /// What the compiler found.
  struct Parts {
    let template: PathTemplate
    let httpMethod: String
    let input: Int
    let output: Int
    var variables: [Variable] = []
    var body = Body.none
    var response = Response.message
    var maskField: Int?
    var reverseFault: String?
    var unsendableFields: [String] = []
    var readableTypes: [BodyType] = []
  }

  /// Whether a field is one message, so that its bytes alone can be a body.
  static func holdsMessage(_ field: Field) -> Bool {
    (field.kind == .message || field.kind == .group) && field.cardinality == .singular
  }

  /// How a singular field's message keeps its fields: whether a dotted name may go into it.
  static func isOpen(_ field: Field, in schema: Schema) -> Bool {
    guard field.kind == .message || field.kind == .group, field.cardinality == .singular,
      schema.messages.indices.contains(field.messageIndex)
    else { return false }
    return schema.messages[field.messageIndex].wellKnown == nil
  }
}
