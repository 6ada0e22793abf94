import ProtobufSchema

/// Makes a schema from lines such as `pkg.Name: 1 id string, 2 tags string repeated, 3 pay string oneof=pay`.
struct SchemaSketch {
  private var names: [String: Int] = [:]
  private var lines: [(name: String, fields: [String])] = []
  private var enums: [EnumType]

  static func schema(_ text: String, enums: [EnumType] = []) throws -> Schema {
    var sketch = SchemaSketch(enums: enums)
    for line in text.split(separator: "\n") where line.contains(":") {
      let parts = line.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
      sketch.add(parts[0], parts.count > 1 ? parts[1].split(separator: ",").map { String($0).trimmed } : [])
    }
    return Schema(messages: try sketch.messages(), enums: enums, services: [])
  }

  private init(enums: [EnumType]) { self.enums = enums }

  private mutating func add(_ name: String, _ fields: [String]) {
    names[name] = lines.count
    lines.append((name, fields.filter { !$0.isEmpty }))
    for field in fields {
      let words = field.split(separator: " ").map(String.init)
      guard words.count > 2, words[2].hasPrefix("map<") else { continue }
      let types = words[2].dropFirst(4).dropLast().split(separator: ";").map(String.init)
      add("\(name).\(words[1])Entry", ["1 key \(types[0])", "2 value \(types[1])"])
    }
  }

  private func messages() throws -> [MessageType] {
    try lines.map { line in
      var oneofs: [(name: String, members: [Int])] = []
      let fields = try line.fields.enumerated().map { try field($1, $0, of: line.name, &oneofs) }
      return MessageType(
        fullName: line.name, file: "test.proto", fields: fields,
        oneofs: oneofs.map { Oneof(name: $0.name, members: $0.members) },
        wellKnown: WellKnownType(rawValue: line.name), isMapEntry: line.name.hasSuffix("Entry"))
    }
  }

  private func field(
    _ text: String, _ index: Int, of message: String, _ oneofs: inout [(name: String, members: [Int])]
  ) throws -> Field {
    let words = text.split(separator: " ").map(String.init)
    struct Malformed: Error { let text: String }
    guard words.count > 2, let number = Int32(words[0]) else { throw Malformed(text: text) }
    let flags = words.dropFirst(3)
    let scalars: [String: Field.Kind] = [
      "double": .double, "float": .float, "int64": .int64, "uint64": .uint64, "int32": .int32, "bool": .bool,
      "string": .string, "bytes": .bytes, "uint32": .uint32, "sint32": .sint32, "sint64": .sint64,
      "fixed32": .fixed32, "fixed64": .fixed64, "sfixed32": .sfixed32, "sfixed64": .sfixed64,
    ]
    let isMap = words[2].hasPrefix("map<")
    let typeName = isMap ? "\(message).\(words[1])Entry" : words[2]
    let enumIndex = enums.firstIndex { $0.fullName == typeName } ?? -1
    let messageIndex = names[typeName] ?? -1
    guard
      let kind = scalars[typeName]
        ?? (enumIndex >= 0 ? .enum : messageIndex >= 0 ? (flags.contains("group") ? .group : .message) : nil)
    else {
      throw Malformed(text: text)
    }
    var oneofIndex = -1
    if let oneof = flags.first(where: { $0.hasPrefix("oneof=") })?.dropFirst(6) {
      oneofIndex = oneofs.firstIndex { $0.name == oneof } ?? oneofs.count
      if oneofIndex == oneofs.count { oneofs.append((String(oneof), [])) }
      oneofs[oneofIndex].members.append(index)
    }
    let isRepeated = flags.contains("repeated")
    let isPackable = kind != .string && kind != .bytes && kind != .message
    return Field(
      name: words[1],
      jsonName: flags.first { $0.hasPrefix("json=") }.map { String($0.dropFirst(5)) } ?? camel(words[1]),
      number: number, kind: kind, cardinality: isMap ? .map : isRepeated ? .repeated : .singular,
      messageIndex: messageIndex, enumIndex: enumIndex, oneofIndex: oneofIndex,
      hasPresence: !isRepeated && !isMap && (messageIndex >= 0 || oneofIndex >= 0 || flags.contains("optional")),
      isPacked: isRepeated && isPackable)
  }

  private func camel(_ name: String) -> String {
    var result = ""
    for part in name.split(separator: "_") {
      result += result.isEmpty ? String(part) : part.prefix(1).uppercased() + part.dropFirst()
    }
    return result
  }
}

extension String {
  fileprivate var trimmed: String {
    var view = self[...]
    while view.first == " " { view.removeFirst() }
    while view.last == " " { view.removeLast() }
    return String(view)
  }
}
