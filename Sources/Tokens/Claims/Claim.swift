package import JSONValues

/// Claims as others want them: by name, as text.
package enum Claim {
  /// The claim of a name; where there is none, a dot in the name leads into an object (`realm_access.roles`).
  package static func find(_ name: String, in claims: JSONValue) -> JSONValue? {
    if let whole = claims[name] { return whole }
    var rest = name[...]
    while let dot = rest.lastIndex(of: ".") {
      rest = rest[..<dot]
      if let outer = claims[String(rest)], outer.members != nil {
        return find(String(name[name.index(after: dot)...]), in: outer)
      }
    }
    return nil
  }

  /// What a claim says: a text, a number or a truth as it is written, of a list each element so. Objects say nothing.
  package static func texts(_ value: JSONValue) -> [String] {
    switch value {
    case .string(let text): [text]
    case .literal(let number): [number]
    case .bool(let truth): [truth ? "true" : "false"]
    case .array(let elements): elements.filter { $0.elements == nil }.flatMap(texts)
    case .null, .object: []
    }
  }

  /// A claim as the value of a field: a list with commas between its elements, an object as JSON.
  ///
  /// - Returns: nil for nothing, and for what no field can carry.
  package static func fieldValue(_ value: JSONValue) -> [UInt8]? {
    let bytes: [UInt8]
    switch value {
    case .null: return nil
    case .object: bytes = value.bytes
    case .array(let elements):
      let isFlat = elements.allSatisfy { $0.members == nil && $0.elements == nil && $0 != .null }
      bytes = isFlat ? Array(texts(value).joined(separator: ",").utf8) : value.bytes
    case .string, .literal, .bool: bytes = Array(texts(value).joined().utf8)
    }
    let isClean = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    guard isClean, let first = bytes.first, let last = bytes.last, first != 0x20, last != 0x20,
      bytes.count <= maximumField
    else { return nil }
    return bytes
  }

  /// Bytes of the longest field that is made of a claim.
  private static let maximumField = 4 << 10
}
