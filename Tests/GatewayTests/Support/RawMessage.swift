import Testing

/// One HTTP/1.1 message as it came over the wire.
struct RawMessage {
  var startLine: String
  /// Names in lower case.
  var fields: [(name: String, value: String)]
  var body: [UInt8]

  /// Of an answer.
  var status: Int { Int(startLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }
  var text: String { String(decoding: body, as: UTF8.self) }

  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

extension RawClient {
  /// The next head alone.
  func receiveHead(sourceLocation: SourceLocation = #_sourceLocation) throws -> RawMessage {
    let head = try #require(
      receive(through: "\r\n\r\n"), "the connection ended: \(String(describing: end))",
      sourceLocation: sourceLocation)
    var lines = head.split(separator: "\r\n").map(String.init)
    let first = lines.isEmpty ? "" : lines.removeFirst()
    let fields = lines.map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (name: parts[0].lowercased(), value: String(parts.last ?? "").drop { $0 == " " })
    }
    return RawMessage(startLine: first, fields: fields.map { ($0.name, String($0.value)) }, body: [])
  }

  /// The next message whole: its body by Content-Length or chunks, none without either.
  func receiveMessage(sourceLocation: SourceLocation = #_sourceLocation) throws -> RawMessage {
    var message = try receiveHead(sourceLocation: sourceLocation)
    if let length = message["content-length"].flatMap({ Int($0) }) {
      message.body = receive(count: length)
      try #require(message.body.count == length, "the body is cut", sourceLocation: sourceLocation)
    } else if message["transfer-encoding"] == "chunked" {
      while let chunk = try receiveChunk(sourceLocation: sourceLocation) { message.body += chunk }
    }
    return message
  }

  /// The next chunk of a chunked body; nil for the last one.
  func receiveChunk(sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8]? {
    let line = try #require(receive(through: "\r\n"), "the body is cut", sourceLocation: sourceLocation)
    let size = try #require(Int(line.dropLast(), radix: 16), sourceLocation: sourceLocation)
    let chunk = receive(count: size + 2)
    try #require(chunk.count == size + 2, "the body is cut", sourceLocation: sourceLocation)
    return size == 0 ? nil : Array(chunk.dropLast(2))
  }

  /// Sends a request and waits for its answer.
  func ask(
    _ method: String, _ target: String, _ fields: [String] = [], body: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> RawMessage {
    request(method, target, fields, body: body)
    return try receiveMessage(sourceLocation: sourceLocation)
  }

  /// Sends a request to `gateway.test`, with a JSON body if there is one.
  func request(_ method: String, _ target: String, _ fields: [String] = [], body: String? = nil) {
    var lines = ["\(method) \(target) HTTP/1.1", "host: gateway.test"] + fields
    if let body { lines += ["content-type: application/json", "content-length: \(body.utf8.count)"] }
    send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
  }

  /// Sends an answer with a JSON body.
  func answer(_ status: Int = 200, _ fields: [String] = [], json: String) {
    let length = "content-length: \(json.utf8.count)"
    let lines = ["HTTP/1.1 \(status) X", "content-type: application/json", length] + fields
    send(lines.joined(separator: "\r\n") + "\r\n\r\n" + json)
  }
}
