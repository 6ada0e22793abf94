import ProtobufSchema

/// How one value looks on the wire and in JSON: the protobuf kinds, with enums and well-known types split off.
enum ValueKind: UInt8 {
  case double, float, int64, uint64, int32, fixed64, fixed32, bool, string, bytes, uint32, enumeration
  case sfixed32, sfixed64, sint32, sint64
  case nullValue
  case message, group
  case any, timestamp, duration, fieldMask, structure, value, listValue, wrapper
  /// A message of a message set: an extension with the wire format of ``MessageSetItem``.
  case item

  /// The wire type of one value outside a packed list.
  var wireType: WireType {
    switch self {
    case .int64, .uint64, .int32, .bool, .uint32, .enumeration, .sint32, .sint64, .nullValue: .varint
    case .double, .fixed64, .sfixed64: .fixed64
    case .float, .fixed32, .sfixed32: .fixed32
    case .group: .startGroup
    default: .lengthDelimited
    }
  }

  var isScalar: Bool { rawValue <= ValueKind.nullValue.rawValue }

  /// Whether its JSON is an object or an array. A `Value` is no level of its own: what is in it is.
  var isLevel: Bool {
    switch self {
    case .value, .timestamp, .duration, .fieldMask, .wrapper: false
    default: !isScalar
    }
  }

  /// Whether bits on the wire are the zero of a number: a varint may have more of them than a kind of 32 bits takes.
  /// The negative zero has a bit, so it is none.
  @inline(__always)
  func isZero(_ raw: UInt64) -> Bool {
    switch self {
    case .int32, .uint32, .sint32: UInt32(truncatingIfNeeded: raw) == 0
    default: raw == 0
    }
  }

  /// Whether JSON `null` is a value of it and not the absence of one.
  var acceptsNull: Bool { self == .nullValue || self == .value }
}

enum FieldShape: UInt8 {
  case singular, repeated, packed, map
}

/// A field's record where it lies in the tables: to copy all of a record for each member takes longer than to use it.
///
/// It lives as long as the codec whose tables have the record: the array is constant, so that its memory stays in place.
@safe
@dynamicMemberLookup
struct FieldPlan {
  private let record: UnsafePointer<FieldRecord>

  @inline(__always)
  init(_ record: UnsafePointer<FieldRecord>) { unsafe self.record = unsafe record }

  @inline(__always)
  subscript<Value>(dynamicMember path: KeyPath<FieldRecord, Value>) -> Value { unsafe record.pointee[keyPath: path] }

  /// The record itself, to be changed.
  var copy: FieldRecord { unsafe record.pointee }
}

/// All that the codec needs of one field, as a trivial value in one flat array.
struct FieldRecord {
  /// The bytes of the tag of one value, the first in the lowest byte.
  var tag: UInt64
  /// The bytes of the tag of a packed list.
  var packedTag: UInt64
  /// First and last eight bytes of the name that is written, for the guess that members come in order.
  var name: NameKey
  /// `,"name":` in the text pool.
  var quotedOffset: Int32
  var quotedLength: Int32
  var number: UInt32
  /// Of the message, enum or map entry; -1 for others.
  var sub: Int32
  /// Index of the oneof in its message; -1 outside oneofs.
  var oneof: Int32
  /// The message that has it, and its index there.
  var owner: Int32
  var index: Int32
  var tagLength: UInt8
  var packedTagLength: UInt8
  var kind: ValueKind
  var shape: FieldShape
  var wireType: WireType
  var hasPresence: Bool
  var isRequired: Bool
  /// Whether a string on the wire must be UTF-8.
  var validatesUTF8: Bool
  var isExtension: Bool
  /// The wire type with which the value is to be expected; its tag, if that has no more than two bytes, and the bits of
  /// these; else a tag that no bytes have.
  var nextType: WireType
  var nextTag: UInt16 = 0xFFFF
  var nextMask: UInt16 = 0
  /// Whether it is of an enum that is closed: a number that this lacks is an unknown field.
  var isClosed = false

  /// The tag byte or bytes of a group's end differ in the lowest bit only.
  var endGroupTag: UInt64 { tag &+ 1 }
}

/// One message type: ranges of the flat arrays.
struct MessagePlan {
  var fieldsStart: Int32
  var fieldsEnd: Int32
  /// Names: an open-addressed table of `slotsMask + 1` slots.
  var slotsStart: Int32
  var slotsMask: Int32
  /// Numbers: direct up to `directCount`, above it sorted pairs.
  var directStart: Int32
  var directCount: Int32
  var sortedStart: Int32
  var sortedCount: Int32
  /// ``ValueKind/message``, or what the well-known type is.
  var kind: ValueKind
  /// The inner kind of a wrapper.
  var wrapped: ValueKind
  /// Global field indices of number 1 and 2 of a map entry; -1 when it lacks them.
  var keyField: Int32
  var valueField: Int32
  var hasRequired: Bool
  /// Whether it or a message in it, however deep, has a required field.
  var reachesRequired: Bool
  /// Whether it has the wire format of message sets.
  var isMessageSet: Bool
}

struct EnumPlan {
  var slotsStart: Int32
  var slotsMask: Int32
  /// Numbers in order, each once.
  var valuesStart: Int32
  var valuesCount: Int32
  var isOpen: Bool
  /// The first value in declaration order, the default.
  var firstNumber: Int32
}

/// One number of an enum with the name to write.
struct EnumValuePlan {
  var number: Int32
  /// `"NAME"` in the text pool.
  var quotedOffset: Int32
  var quotedLength: Int32
}

extension ValueKind {
  /// Whether a list of it may be packed.
  @inline(__always)
  var isPackable: Bool { isScalar && self != .string && self != .bytes }
}
