import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

/// Collects what of a message goes into the query of an upstream's URL, and writes it in one fixed order.
struct QueryWriter: ~Copyable {
  private struct Leaf {
    /// Into `steps`.
    let path: Range<Int>
    /// The value's payload in the message's bytes.
    let value: Range<Int>
    let parent: Int
    let field: Int
  }

  /// Values beyond which a message is no matter for a query: fields on the wire, also those that others replace, and
  /// elements of packed lists.
  static let maximumValues = 4_096
  private static let maximumDepth = 100

  private let binding: RESTBinding
  private let schema: Schema
  private var steps: [MessageTree.Step] = []
  private var leaves: [Leaf] = []
  private var values = 0

  init(_ binding: RESTBinding) {
    self.binding = binding
    schema = binding.schema
  }

  // MARK: Collecting

  /// Walks over the message; fields of the path and of the body are left out.
  ///
  /// - Throws: for a set field that no query can hold, naming it.
  mutating func collect(_ wire: Span<UInt8>) throws(RPCError) {
    try collect(binding.input, wire, 0..<wire.count, under: 0..<0)
  }

  private mutating func collect(
    _ message: Int, _ wire: Span<UInt8>, _ range: Range<Int>, under prefix: Range<Int>
  ) throws(RPCError) {
    guard prefix.count < Self.maximumDepth else { throw RPCError(.invalidArgument, "messages nested too deep") }
    let fields = schema.messages[message].fields
    var reader = WireReader(wire, range)
    while !reader.isAtEnd {
      let tag: WireTag
      let payload: Range<Int>
      do throws(WireError) {
        tag = try reader.readTag()
        payload = try WireSearch.payload(&reader, tag)
      } catch { throw RESTBinding.malformed(error) }
      guard let index = fields.firstIndex(where: { UInt32(bitPattern: $0.number) == tag.number }) else { continue }
      if prefix.isEmpty, index == binding.body.field { continue }
      try count()
      let field = fields[index]
      if field.oneofIndex >= 0 { clearSiblings(of: index, oneof: field.oneofIndex, in: fields, under: prefix) }
      if isVariable(index, under: prefix) { continue }
      try take(index, of: message, tag.type, payload, wire, under: prefix)
    }
  }

  private mutating func take(
    _ index: Int, of message: Int, _ type: WireType, _ payload: Range<Int>, _ wire: Span<UInt8>,
    under prefix: Range<Int>
  ) throws(RPCError) {
    let field = schema.messages[message].fields[index]
    let expected = WireSearch.wireType(of: field.kind)
    if field.cardinality != .map, binding.codec.isTextual(message: message, field: index) {
      if type == expected {
        add(index, of: message, payload, under: prefix)
      } else if field.cardinality == .repeated, type == .lengthDelimited {
        // Packed.
        var elements = WireReader(wire, payload)
        while !elements.isAtEnd {
          let start = elements.offset
          do throws(WireError) {
            try elements.skip(WireTag(number: 1, type: expected))
          } catch { throw RESTBinding.malformed(error) }
          try count()
          add(index, of: message, start..<elements.offset, under: prefix)
        }
      }
      return
    }
    guard type == expected else { return }
    if RESTBinding.isOpen(field, in: schema) {
      let path = extend(prefix, index, field.number)
      try collect(field.messageIndex, wire, payload, under: path)
    } else if field.cardinality != .singular || schema.messages[field.messageIndex].wellKnown != .empty {
      throw RPCError.badRequest(
        field: name(extend(prefix, index, field.number)), "cannot be sent to the REST backend: no query can hold it")
    }
  }

  private mutating func count() throws(RPCError) {
    values += 1
    guard values <= Self.maximumValues else {
      throw RPCError(.invalidArgument, "more values than the query of a URL can hold")
    }
  }

  private mutating func add(_ index: Int, of message: Int, _ value: Range<Int>, under prefix: Range<Int>) {
    let path = extend(prefix, index, schema.messages[message].fields[index].number)
    leaves.append(Leaf(path: path, value: value, parent: message, field: index))
  }

  /// The last member of a oneof on the wire is the one that is set.
  private mutating func clearSiblings(of index: Int, oneof: Int, in fields: [Field], under prefix: Range<Int>) {
    let steps = steps
    leaves.removeAll { leaf in
      guard leaf.path.count > prefix.count,
        zip(prefix, leaf.path).allSatisfy({ steps[$0].field == steps[$1].field })
      else { return false }
      let other = steps[leaf.path.lowerBound + prefix.count].field
      return other != index && fields[other].oneofIndex == oneof
    }
  }

  private func isVariable(_ index: Int, under prefix: Range<Int>) -> Bool {
    binding.variables.contains { variable in
      variable.fieldPath.count == prefix.count + 1 && variable.field == index
        && zip(variable.fieldPath, prefix).allSatisfy { $0 == steps[$1].field }
    }
  }

  private mutating func extend(_ prefix: Range<Int>, _ index: Int, _ number: Int32) -> Range<Int> {
    let start = steps.count
    for step in prefix { steps.append(steps[step]) }
    steps.append(MessageTree.Step(field: index, number: number))
    return start..<steps.count
  }

  // MARK: Writing

  /// Appends `?name=value&…`, nothing when no field is set: by field number, repeated fields in their order.
  mutating func write(_ wire: Span<UInt8>, into target: inout ByteBuffer) throws(RPCError) {
    let steps = steps
    leaves.sort { left, right in
      for (one, other) in zip(left.path, right.path) where steps[one].number != steps[other].number {
        return steps[one].number < steps[other].number
      }
      return left.value.lowerBound < right.value.lowerBound
    }
    var text = ByteBuffer()
    var parts = ByteBuffer()
    var separator = UInt8(ascii: "?")
    for (index, leaf) in leaves.enumerated() {
      let field = schema.messages[leaf.parent].fields[leaf.field]
      if field.cardinality == .singular {
        let goesOn = index + 1 < leaves.count && isSame(leaf, leaves[index + 1])
        // The parts of a message are one message, of scalars the last one counts.
        if field.kind == .message, goesOn || !parts.isEmpty { parts.append(wire.extracting(leaf.value)) }
        if goesOn { continue }
        if !field.hasPresence, Self.isZero(wire.extracting(leaf.value), field.kind) { continue }
      }
      text.removeAll()
      do throws(JSONError) {
        if parts.isEmpty {
          try binding.codec.encodeText(
            wire.extracting(leaf.value), message: leaf.parent, field: leaf.field, into: &text)
        } else {
          try binding.codec.encodeText(parts.span, message: leaf.parent, field: leaf.field, into: &text)
          parts.removeAll()
        }
      } catch {
        throw RPCError.badRequest(field: name(leaf.path), error.reason)
      }
      let isList = field.cardinality == .repeated
      if isList, binding.lists == .commas, index > 0, isSame(leaf, leaves[index - 1]) {
        target.append(UInt8(ascii: ","))
      } else {
        target.append(separator)
        separator = UInt8(ascii: "&")
        writeName(leaf.path, into: &target)
        if isList, binding.lists == .brackets { target.append("%5B%5D") }
        target.append(UInt8(ascii: "="))
      }
      PercentCoding.encode(text.span, into: &target)
    }
  }

  private func isSame(_ left: Leaf, _ right: Leaf) -> Bool {
    left.path.count == right.path.count && zip(left.path, right.path).allSatisfy { steps[$0].field == steps[$1].field }
  }

  private static func isZero(_ payload: Span<UInt8>, _ kind: Field.Kind) -> Bool {
    // A varint may be padded: 0x80 0x00 is zero too.
    let mask: UInt8 = WireSearch.wireType(of: kind) == .varint ? 0x7F : 0xFF
    if WireSearch.wireType(of: kind) == .lengthDelimited { return payload.isEmpty }
    for index in payload.indices where payload[index] & mask != 0 { return false }
    return true
  }

  private func writeName(_ path: Range<Int>, into target: inout ByteBuffer) {
    var message = binding.input
    for step in path {
      let field = schema.messages[message].fields[steps[step].field]
      if step > path.lowerBound { target.append(UInt8(ascii: ".")) }
      let name = binding.codec.profile.protoFieldNames ? field.name : field.jsonName
      PercentCoding.encode(Array(name.utf8).span, into: &target)
      message = field.messageIndex
    }
  }

  private func name(_ path: Range<Int>) -> String {
    var message = binding.input
    var names: [String] = []
    for step in path {
      let field = schema.messages[message].fields[steps[step].field]
      names.append(field.jsonName)
      message = field.messageIndex
    }
    return names.joined(separator: ".")
  }
}
