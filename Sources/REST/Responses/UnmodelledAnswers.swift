import Bytes
import ProtobufSchema
import RPC

/// What a REST backend's good answer holds besides its message: the member that tells it from an error, and a text where
/// nothing is to be said.
extension RESTBinding {
  /// The JSON with blanks in place of an outermost member; nil when the message has a field of that name, when the member
  /// is not there, and for what is no JSON object: that is the codec's to judge.
  ///
  /// Blanks keep the places of all else, which errors name.
  func blanking(_ member: String?, in json: Span<UInt8>) -> ByteBuffer? {
    guard let member, lacksField(member), let range = Self.range(of: member, in: json) else { return nil }
    var blanked = ByteBuffer()
    blanked.append(json.extracting(0..<range.lowerBound))
    for _ in range { blanked.append(UInt8(ascii: " ")) }
    blanked.append(json.extracting(range.upperBound..<json.count))
    return blanked
  }

  /// Whether the answer's outermost object is a message without a field of this name.
  private func lacksField(_ name: String) -> Bool {
    var message = output
    if case .field(let index) = response {
      let field = schema.messages[output].fields[index]
      guard Self.isOpen(field, in: schema) else { return false }
      message = field.messageIndex
    }
    let type = schema.messages[message]
    // An Empty is a message without fields.
    guard type.wellKnown == nil || type.wellKnown == .empty else { return false }
    return !type.fields.contains { $0.name == name || $0.jsonName == name }
  }

  /// Where a member lies, with the comma that is too many without it.
  private static func range(of member: String, in json: Span<UInt8>) -> Range<Int>? {
    var scanner = JSONScanner(json)
    do throws(JSONFault) {
      guard scanner.take(UInt8(ascii: "{")) else { return nil }
      var isFirst = true
      while true {
        let (start, opens) = (scanner.index, isFirst)
        guard let name = try scanner.nextMember(&isFirst) else { return nil }
        try scanner.skipValue()
        guard name == member else { continue }
        // The first one has its comma behind it.
        if opens, scanner.peek() == UInt8(ascii: ",") { return start..<scanner.index + 1 }
        return start..<scanner.index
      }
    } catch {
      return nil
    }
  }

  /// Whether a body says nothing that an answer without fields could lack: it is no JSON object, but a text as `OK`.
  func isMereText(_ contentType: Span<UInt8>?, _ content: Span<UInt8>) -> Bool {
    guard response == .message, schema.messages[output].wellKnown == .empty else { return false }
    if let contentType, !MediaType.isJSON(contentType) { return true }
    var scanner = JSONScanner(content)
    return scanner.peek() != UInt8(ascii: "{")
  }
}
