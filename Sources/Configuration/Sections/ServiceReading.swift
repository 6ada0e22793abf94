import Diagnostics

extension RootReader {
  mutating func readServices(_ node: Node) {
    for entry in context.mapping(node, "services by name") ?? [] {
      guard let map = MappingReader(entry.value, Sections.service, context) else { continue }
      var settings = RouteSettings(stagePosition: entry.keyPosition)
      let isReadable = apply(map, to: &settings)
      let (answerer, isAnswerReadable) = gatewayService(entry, map)
      if answerer != nil {
        settings.rpc = Reference(name: UpstreamConfiguration.gatewayName, position: entry.keyPosition)
        settings.stage = .rpc
      }
      let own = map[.interceptors].map { interceptors($0, after: configuration.interceptors) } ?? []
      check(own, of: entry.key, isPublic: settings.isPublic, map)
      var stages = StageChecks(service: entry.key, settings: settings, isReadable: isReadable)
      var methods: [MethodConfiguration] = []
      for method in map[.methods].flatMap({ context.mapping($0, "methods by name") }) ?? [] {
        let outer = configuration.interceptors + own
        if let read = self.method(method, of: settings, isReadable, outer, &stages) { methods.append(read) }
      }
      if answerer == nil, isAnswerReadable { stages.run(context) }
      var service = ServiceConfiguration(
        service: Reference(name: entry.key, position: entry.keyPosition), settings: settings, methods: methods)
      service.interceptors = own
      service.answerer = answerer
      configuration.services.append(service)
    }
  }

  private func method(
    _ entry: Node.Entry, of service: RouteSettings, _ isServiceReadable: Bool, _ outer: [InterceptorConfiguration],
    _ stages: inout StageChecks
  ) -> MethodConfiguration? {
    guard let map = MappingReader(entry.value, Sections.method, context) else { return nil }
    var settings = service
    let isReadable = apply(map, to: &settings)
    stages.add(
      method: entry.key, at: entry.keyPosition, settings,
      saysItself: map[.stage] != nil || map[.rest] != nil || map[.rpc] != nil
        || map[.canary] != nil || map[.ramp] != nil || map[.guard] != nil,
      isReadable: isReadable && isServiceReadable)
    var result = MethodConfiguration(
      method: Reference(name: entry.key, position: entry.keyPosition), settings: settings,
      http: map[.http].flatMap { rule($0) })
    if let node = map[.interceptors] { result.interceptors = interceptors(node, after: outer) }
    check(result.interceptors, of: entry.key, isPublic: settings.isPublic, map)
    return result
  }

  /// Whoever writes a check of callers beside `public` means one of the two.
  private func check(
    _ own: [InterceptorConfiguration], of name: String, isPublic: Bool, _ map: MappingReader<RouteKey>
  ) {
    guard isPublic, own.contains(where: \.isAuthentication) else { return }
    context.error(
      map.keyPosition(.interceptors), "\(quoted(name)) is public, so its own checks of callers would not be made",
      cure: "write `public: false` here, or leave the checks out")
  }

  /// Lays the keys of a service or a method over what stands.
  ///
  /// - Returns: Whether stage and sides could be read, so that it makes sense to compare them.
  private func apply(_ map: MappingReader<RouteKey>, to settings: inout RouteSettings) -> Bool {
    var isReadable = !map.wasMeant(.rest) && !map.wasMeant(.rpc) && !map.wasMeant(.stage)
    if let node = map[.rest] {
      settings.rest = reference(node)
      isReadable = isReadable && settings.rest != nil
      settings.rest.map { check($0, is: .rest, for: "`rest`") }
    }
    if let node = map[.rpc] {
      settings.rpc = reference(node)
      isReadable = isReadable && settings.rpc != nil
      settings.rpc.map { check($0, is: .rpc, for: "`rpc`") }
    }
    if let node = map[.stage] {
      settings.stagePosition = node.position
      if let stage: RouteSettings.Stage = context.word(node, "a stage") {
        settings.stage = stage
      } else {
        isReadable = false
      }
    }
    context.read(map[.hosts], into: &settings.hosts) { node in
      context.list(node, "hosts")?.compactMap { context.hostPattern($0) }
    }
    context.read(map[.prefix], into: &settings.prefix) { prefix($0) }
    context.read(map[.stripPrefix], into: &settings.stripPrefix) { context.boolean($0) }
    context.read(map[.envelope], into: &settings.envelope) { context.name($0, "a member's name")?.value }
    context.read(map[.timeout], into: &settings.timeout) { context.duration($0, zeroAllowed: true) }
    context.read(map[.etag], into: &settings.makesEntityTags) { context.boolean($0) }
    context.read(map[.trailingSlash], into: &settings.acceptsTrailingSlash) { node in
      let word: TrailingSlash? = context.word(node, "a treatment of a slash at the end")
      return word.map { $0 == .accept }
    }
    context.read(map[.successStatus], into: &settings.successStatus) { successStatus($0) }
    if let node = map[.compression] { apply(compression: node, to: &settings.compression) }
    context.read(map[.retries], into: &settings.retries) { retries($0) }
    context.read(map[.isPublic], into: &settings.isPublic) { context.boolean($0) }
    if let node = map[.json] { apply(json: node, to: &settings.json) }
    if let node = map[.query] { apply(query: node, to: &settings.query) }
    context.read(map[.bodyTypes], into: &settings.bodyTypes) { bodyTypes($0) }
    if let node = map[.errors] { apply(errors: node, to: &settings.errors) }
    context.read(map[.stream], into: &settings.stream) { context.word($0, "a form of streams") }
    if let node = map[.events] { apply(events: node, to: &settings.events) }
    context.read(map[.rateLimitCost], into: &settings.rateLimitCost) { context.integer($0, 0...1_000_000) }
    if let node = map[.limits] { apply(limits: node, to: &settings.limits) }
    if let node = map[.shadow] { apply(shadow: node, to: &settings.shadow) }
    context.read(map[.dryRun], into: &settings.dryRun) { context.share($0) }
    if let node = map[.canary] { isReadable = apply(canary: node, to: &settings.canary) && isReadable }
    context.read(map[.override], into: &settings.override) { sideOverride($0) }
    if let node = map[.guard] { apply(guard: node, to: &settings.guard) }
    if let node = map[.fallback] { apply(fallback: node, to: &settings.fallback) }
    if let node = map[.ramp] {
      settings.rampPosition = node.position
      settings.ramp = ramp(node) ?? settings.ramp
    }
    return isReadable
  }

  /// Whether the fields are there is known only with the schema.
  private func apply(events node: Node, to events: inout RouteSettings.Events) {
    guard let map = MappingReader(node, Sections.events, context) else { return }
    context.read(map[.event], into: &events.event) { fieldName($0) }
    context.read(map[.id], into: &events.id) { fieldName($0) }
  }

  private func fieldName(_ node: Node) -> Reference? {
    context.name(node, "a field's name").map { Reference(name: $0.value, position: $0.position, isSecret: $0.isSecret) }
  }

  private func bodyTypes(_ node: Node) -> [RouteSettings.BodyType]? {
    guard let elements = context.list(node, "forms of bodies") else { return nil }
    var types: [RouteSettings.BodyType] = []
    for element in elements {
      guard let type: RouteSettings.BodyType = context.word(element, "a form of bodies") else { return nil }
      if !types.contains(type) { types.append(type) }
    }
    if types.isEmpty {
      context.error(node.position, "no form of bodies is given", cure: "write `body_types: [json, protobuf]`")
      return nil
    }
    return types
  }

  private func apply(json node: Node, to json: inout JSONSettings) {
    guard let map = MappingReader(node, Sections.json, context) else { return }
    context.read(map[.emitDefaults], into: &json.emitDefaults) { context.boolean($0) }
    context.read(map[.fieldNames], into: &json.fieldNames) { context.word($0, "a choice of field names") }
    context.read(map[.int64], into: &json.int64) { context.word($0, "a form of int64") }
    context.read(map[.enums], into: &json.enums) { context.word($0, "a form of enums") }
    context.read(map[.enumPrefix], into: &json.enumPrefix) { context.word($0, "a treatment of enum prefixes") }
    context.read(map[.enumCase], into: &json.enumCase) { context.word($0, "a case of enum names") }
    context.read(map[.unset], into: &json.unset) { context.word($0, "a form of unset fields") }
    context.read(map[.timestamps], into: &json.timestamps) { context.word($0, "a form of timestamps") }
    context.read(map[.reading], into: &json.reading) { context.word($0, "a way of reading") }
    context.read(map[.unknownFields], into: &json.unknownFields) { context.word($0, "a treatment of unknown fields") }
  }

  private enum TrailingSlash: String, CaseIterable {
    case reject, accept
  }

  private enum UnknownQuery: String, CaseIterable {
    case reject, ignore
  }

  private func apply(query node: Node, to query: inout RouteSettings.Query) {
    guard let map = MappingReader(node, Sections.query, context) else { return }
    context.read(map[.unknown], into: &query.ignoresUnknown) { node in
      let word: UnknownQuery? = context.word(node, "a treatment of unknown parameters")
      return word.map { $0 == .ignore }
    }
    context.read(map[.ignore], into: &query.ignore) { node in
      context.texts(node, "names", each: "a parameter's name")?.map(\.value)
    }
    context.read(map[.lists], into: &query.lists) { context.word($0, "a spelling of lists") }
  }
}

extension RootReader {
  /// `/api`: segments of unreserved characters, none of them `.` or `..`.
  private func prefix(_ node: Node) -> String? {
    guard let text = context.name(node, "a prefix") else { return nil }
    let segments = text.value.split(separator: "/", omittingEmptySubsequences: false)
    let fits =
      segments.count > 1 && segments.first == ""
      && segments.dropFirst().allSatisfy { segment in
        !segment.isEmpty && isPlain(segment)
      }
    if fits { return text.value }
    let parts = text.value.split(separator: "/")
    let example = text.isSecret || parts.isEmpty || !parts.allSatisfy(isPlain)
    context.error(
      node.position, "\(text.shown) is not a prefix",
      cure: "write \(quoted(example ? "/api" : parts.map { "/\($0)" }.joined())), a `/` before it and none after")
    return nil
  }

  private func isPlain(_ segment: Substring) -> Bool {
    segment != "." && segment != ".." && segment.utf8.allSatisfy(isUnreserved)
  }

  /// RFC 3986 section 2.3.
  private func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }

  private func successStatus(_ node: Node) -> Int? {
    context.integer(node, 200...204)
  }
}
