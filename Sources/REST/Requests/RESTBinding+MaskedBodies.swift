import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

/// The fields of a message that a mask names; one without children is named whole.
struct FieldTree {
  /// By index into ``MessageType/fields``.
  var children: [Int: FieldTree] = [:]
  /// Names that were added, for the work that they can make.
  private(set) var count = 0

  /// Adds a path of field indices. What is named whole stays whole.
  mutating func insert(_ path: ArraySlice<Int>) {
    count += 1
    guard let step = path.first else { return }
    let rest = path.dropFirst()
    if rest.isEmpty {
      children[step] = FieldTree()
    } else if let known = children[step], known.children.isEmpty {
      return
    } else {
      children[step, default: FieldTree()].insert(rest)
    }
  }
}

/// The body of a PATCH towards a REST backend: what the call's FieldMask names and nothing else, `null` for what it
/// names and the message lacks. The reverse of filling the mask from a body.
extension RESTBinding {
  /// Bytes that are looked through for all names of a mask together.
  private static let maximumMaskWork = 1 << 27

  /// What of the body's message the mask names.
  ///
  /// - Returns: nil without a mask, with an empty one, and with one that names no fields of the message (`*`): the body
  ///   is sent whole then, and the backend has the mask in the query to judge by.
  func maskedFields(of body: Int, _ wire: Span<UInt8>) throws(RPCError) -> FieldTree? {
    guard let maskField else { return nil }
    var tree = FieldTree()
    var mask = ByteBuffer()
    guard try merge(maskField, of: input, wire, into: &mask) else { return nil }
    let paths = mask.span
    var reader = WireReader(paths)
    while !reader.isAtEnd {
      let range: Range<Int>
      do throws(WireError) {
        let tag = try reader.readTag()
        guard tag == WireTag(number: 1, type: .lengthDelimited) else {
          try reader.skip(tag)
          continue
        }
        range = try reader.readLengthDelimited()
      } catch { throw Self.malformed(error) }
      let text = String(repairing: paths.extracting(range))
      guard let path = resolve(text, in: schema.messages[input].fields[body].messageIndex) else { return nil }
      tree.insert(path[...])
      let (work, isTooMuch) = tree.count.multipliedReportingOverflow(by: wire.count)
      guard !isTooMuch, work <= Self.maximumMaskWork else {
        let name = schema.messages[input].fields[maskField].jsonName
        throw RPCError.badRequest(field: name, "names too many fields for a message of this size")
      }
    }
    return tree.children.isEmpty ? nil : tree
  }

  private func resolve(_ path: String, in message: Int) -> [Int]? {
    var message = message
    var indices: [Int] = []
    let names = path.split(separator: ".", omittingEmptySubsequences: false)
    guard names.count <= 64 else { return nil }
    for (depth, name) in names.enumerated() {
      let fields = schema.messages[message].fields
      guard let index = fields.firstIndex(where: { $0.name == name }) else { return nil }
      indices.append(index)
      if depth == names.count - 1 { break }
      guard Self.isOpen(fields[index], in: schema) else { return nil }
      message = fields[index].messageIndex
    }
    return indices
  }

  /// Writes the named fields of the body.
  ///
  /// - Parameter omitting: paths in the body that stand elsewhere in the request.
  func writeMasked(
    _ tree: FieldTree, inBody body: Int, _ wire: Span<UInt8>, omitting: [[Int]], into content: inout ByteBuffer
  ) throws(RPCError) {
    let field = schema.messages[input].fields[body]
    var message = ByteBuffer()
    _ = try merge(body, of: input, wire, into: &message)
    try writeMasked(tree, of: field.messageIndex, message.span, omitting: omitting, into: &content)
  }

  /// Writes the named fields of a message as a JSON object.
  ///
  /// - Parameter omitting: field paths that stand elsewhere in the request.
  func writeMasked(
    _ tree: FieldTree, of message: Int, _ wire: Span<UInt8>, omitting: [[Int]], into content: inout ByteBuffer
  ) throws(RPCError) {
    content.append("{")
    let empty = content.count
    let fields = schema.messages[message].fields
    for index in fields.indices {
      guard let inner = tree.children[index], !omitting.contains([index]) else { continue }
      let field = fields[index]
      if content.count > empty { content.append(",") }
      JSONText.append(codec.profile.protoFieldNames ? field.name : field.jsonName, into: &content)
      content.append(":")
      let below = omitting.filter { $0.first == index }.map { Array($0.dropFirst()) }
      if !inner.children.isEmpty {
        var nested = ByteBuffer()
        _ = try merge(index, of: message, wire, into: &nested)
        let span = nested.span
        try writeMasked(inner, of: field.messageIndex, span, omitting: below, into: &content)
      } else if field.hasPresence, try !isSet(index, of: message, wire) {
        content.append("null")
      } else {
        do throws(JSONError) {
          try codec.encodeField(wire, message: message, field: index, omitting: below, into: &content)
        } catch { throw RPCError.badRequest(field: error.path, error.reason) }
      }
    }
    content.append("}")
  }

  private func isSet(_ field: Int, of message: Int, _ wire: Span<UInt8>) throws(RPCError) -> Bool {
    do throws(WireError) {
      return try !WireSearch.parts(of: field, of: message, in: schema, wire).isEmpty
    } catch { throw Self.malformed(error) }
  }
}
