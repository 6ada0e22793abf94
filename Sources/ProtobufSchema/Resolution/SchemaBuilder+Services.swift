import Diagnostics

extension SchemaBuilder {
  mutating func buildService(_ service: ServiceDescriptor, file: Int, path: [Int32]) -> ServiceType {
    let descriptor = files[file].descriptor
    let fullName = Self.join(descriptor.package, service.name)
    var methods: [MethodType] = []
    var names: Set<String> = []
    for (index, method) in service.methods.enumerated() {
      let path = path + [2, index.number]
      let rulePath = path + [4, Int32(MethodDescriptor.httpRuleNumber)]
      let element = "method \(fullName)/\(method.name)"
      checkName(method.name, of: element, file: file)
      if !names.insert(method.name).inserted { report(file, at: path, "\(element) is declared twice") }
      let input = resolveMessage(method.input, scope: fullName, file: file, user: "the request of \(element)")
      let output = resolveMessage(method.output, scope: fullName, file: file, user: "the response of \(element)")
      guard let input, let output else { continue }
      methods.append(
        MethodType(
          name: method.name, input: input, output: output, isClientStreaming: method.isClientStreaming,
          isServerStreaming: method.isServerStreaming, idempotency: method.idempotency,
          httpRule: method.httpRule.flatMap {
            buildRule($0, of: element, file: file, path: rulePath, isAdditional: false)
          },
          position: position(of: rulePath, in: file) ?? position(of: path, in: file)))
    }
    return ServiceType(fullName: fullName, file: descriptor.name, methods: methods)
  }

  private mutating func resolveMessage(_ reference: String, scope: String, file: Int, user: String) -> Int? {
    guard let symbol = resolve(reference, from: scope, file: file, user: user) else { return nil }
    if case .message(let index) = symbol { return index }
    report(file, "\(user) is \(reference), which is no message")
    return nil
  }

  /// The rule; nil when it says no method or path, which is reported. Templates and fields are checked where rules
  /// are compiled, since the configuration has rules too.
  private mutating func buildRule(
    _ rule: HTTPRuleDescriptor, of element: String, file: Int, path: [Int32], isAdditional: Bool
  ) -> HTTPRule? {
    let name = isAdditional ? "an additional binding in google.api.http of \(element)" : "google.api.http of \(element)"
    if rule.unknownField != 0 {
      report(
        file, at: path, "\(name) has the field \(rule.unknownField), which no rule known here has",
        cure: "say it with get, put, post, delete, patch, custom, body, response_body and additional_bindings")
      return nil
    }
    guard let method = rule.method, !method.isEmpty, !rule.path.isEmpty else {
      report(file, at: path, "\(name) has no path", cure: "give it one of get, put, post, delete, patch or custom")
      return nil
    }
    guard method == "*" || method.utf8.allSatisfy({ Self.isTokenByte($0) }) else {
      report(
        file, at: path, "\(name) has the kind \(method), which is no HTTP method",
        cure: "use a token such as HEAD, or *")
      return nil
    }
    if isAdditional, !rule.additionalBindings.isEmpty {
      report(file, at: path, "\(name) has additional bindings of its own", cure: "list all of them in the rule itself")
      return nil
    }
    var additional: [HTTPRule] = []
    for binding in rule.additionalBindings {
      if let built = buildRule(binding, of: element, file: file, path: path, isAdditional: true) {
        additional.append(built)
      }
    }
    return HTTPRule(
      method: method, path: rule.path, body: rule.body.isEmpty ? nil : rule.body,
      responseBody: rule.responseBody.isEmpty ? nil : rule.responseBody, additionalBindings: additional)
  }

  /// A character of a token (RFC 9110 section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
