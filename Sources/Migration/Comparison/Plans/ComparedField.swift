import ProtobufSchema

/// How the values of a message type are compared.
enum MessageForm: UInt8, Sendable {
  case plain
  case timestamp
  case duration
  case wrapper
  case fieldMask
  case any
  case structure
  case value
  case listValue

  init(_ type: MessageType) {
    self =
      switch type.wellKnown {
      case .timestamp: .timestamp
      case .duration: .duration
      case .fieldMask: .fieldMask
      case .any: .any
      case .structure: .structure
      case .value: .value
      case .listValue: .listValue
      case nil, .empty, .httpBody: .plain
      default: .wrapper
      }
  }

  /// The message that a field holds, if its fields have names of their own in JSON.
  func index(_ field: Field) -> Int? { self == .plain ? field.messageIndex : nil }

  /// Whether the fields of such a message have no names in JSON.
  var hidesNames: Bool {
    switch self {
    case .structure, .value, .listValue, .fieldMask: true
    default: false
    }
  }
}

/// All that a comparison needs of one field, as a trivial value in one flat array.
struct ComparedField: Sendable {
  let number: UInt32
  let kind: Field.Kind
  let cardinality: Field.Cardinality
  /// Of a message: how it is compared.
  let form: MessageForm
  /// Of the message, or of a map's entry, in ``ComparisonPlan/messages``; -1 for scalars.
  let node: Int32
  /// Index into ``Schema/enums``; -1 unless an enum.
  let enumIndex: Int32
  /// Index into ``ComparisonPlan/tolerances``; -1 for none.
  let tolerance: Int32
  let hasPresence: Bool
  let isIgnored: Bool
  let isUnordered: Bool
  /// Whether its values are never shown.
  let isSecret: Bool
  /// Whether its name is no part of the path.
  let isHidden: Bool

  /// The wire type of one value outside a packed list.
  var wireType: WireType {
    switch kind {
    case .double, .fixed64, .sfixed64: .fixed64
    case .float, .fixed32, .sfixed32: .fixed32
    case .string, .bytes, .message: .lengthDelimited
    case .group: .startGroup
    case .int64, .uint64, .int32, .bool, .uint32, .enum, .sint32, .sint64: .varint
    }
  }

  var isMessage: Bool { kind == .message || kind == .group }
  var isText: Bool { kind == .string || kind == .bytes }
}

/// One message type at one place of the answer: the rules that hold there are part of it.
struct ComparedMessage: Sendable {
  /// Index into ``Schema/messages``.
  let message: Int32
  let form: MessageForm
  /// Whether it has the wire format of message sets.
  let isMessageSet: Bool
  /// Its fields in ``ComparisonPlan/fields``, in the order of their numbers.
  var fieldsStart: Int32 = 0
  var fieldsCount: Int32 = 0
  /// Of a map's entry: its key and value in ``ComparisonPlan/fields``; -1 for other messages.
  var keyField: Int32 = -1
  var valueField: Int32 = -1

  var fields: Range<Int> { Int(fieldsStart)..<Int(fieldsStart + fieldsCount) }
}
