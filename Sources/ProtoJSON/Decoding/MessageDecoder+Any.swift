import Bytes
import ProtobufSchema

extension MessageDecoder {
  /// Appends the content of an `Any`; its `@type` may stand anywhere in the object.
  mutating func any(into output: inout ByteBuffer) throws(Fault) {
    guard cursor.byte == UInt8(ascii: "{") else { throw cursor.mismatch("an object") }
    let start = cursor.index
    let depth = cursor.depth
    var type = memory.takeBuffer()
    defer { memory.give(&type) }
    guard try findType(into: &type) else { return }
    lookAhead &-= cursor.index &- start
    guard lookAhead > 0 else { throw Fault(.depth, at: start, "@type first in nested Any values") }
    cursor.index = start
    cursor.depth = depth
    let message = try resolve(type.span, at: start)
    output.append(0x0A)
    output.append(varint: UInt64(type.count))
    output.append(type.span)
    let before = output.count
    output.append(0x12)
    let content = output.beginLengthDelimited()
    if tables.messages[message].kind == .message {
      try object(message, bindings: 0, level: 0, skipsType: true, into: &output)
    } else {
      try specialAny(message, into: &output)
    }
    if output.count == content { output.truncate(to: before) } else { output.endLengthDelimited(content) }
  }

  /// Looks for `@type` in the object that begins here; false for an empty object, which is stepped over.
  ///
  /// Stops behind the value of `@type`, which is the first member as a rule.
  private mutating func findType(into type: inout ByteBuffer) throws(Fault) -> Bool {
    let start = cursor.index
    guard try cursor.open(UInt8(ascii: "{")) else { return false }
    repeat {
      let name = cursor.index
      let isPlain = cursor.skip("\"@type\"")
      if !isPlain { try cursor.skipString() }
      let isFound = isPlain || isType(name)
      try cursor.colon()
      if isFound {
        try cursor.unescape(into: &type)
        return true
      }
      try cursor.skipValue()
    } while try cursor.next(UInt8(ascii: "{"))
    throw Fault(.type, at: start, "an object with @type expected")
  }

  private func resolve(_ type: Span<UInt8>, at offset: Int) throws(Fault) -> Int {
    var slash = type.count
    while slash > 0, type[slash &- 1] != UInt8(ascii: "/") { slash &-= 1 }
    guard slash > 0, slash < type.count else {
      throw Fault(.type, at: offset, "a type URL such as type.googleapis.com/package.Message expected in @type")
    }
    guard let message = schema.messageIndex(named: type.extracting(slash..<type.count)) else {
      throw Fault(.type, at: offset, "a type of the schema expected in @type")
    }
    return message
  }

  /// `{"@type": …, "value": …}`: a type with a JSON form of its own.
  private mutating func specialAny(_ message: Int, into output: inout ByteBuffer) throws(Fault) {
    let object = cursor.index
    var hasType = false
    var hasValue = false
    guard try cursor.open(UInt8(ascii: "{")) else { return }
    repeat {
      let name = cursor.index
      let key = try memberName()
      try cursor.colon()
      switch key {
      case .type:
        guard !hasType else { throw Fault(.duplicate, at: name, "@type once") }
        hasType = true
        try cursor.skipString()
      case .value:
        guard !hasValue else { throw Fault(.duplicate, at: name, "value once") }
        hasValue = true
        try wellKnown(tables.messages[message].kind, message, into: &output)
      case .other: try unknownMember(name)
      }
    } while try cursor.next(UInt8(ascii: "{"))
    guard hasValue else { throw Fault(.type, at: object, "an object with value expected for this @type") }
  }

  private enum MemberName {
    case type, value, other
  }

  private mutating func memberName() throws(Fault) -> MemberName {
    if cursor.skip("\"@type\"") { return .type }
    var text = memory.takeBuffer()
    defer { memory.give(&text) }
    try cursor.unescape(into: &text)
    if ASCII.equal(text.span, "@type") { return .type }
    return ASCII.equal(text.span, "value") ? .value : .other
  }
}
