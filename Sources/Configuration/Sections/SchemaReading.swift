import Diagnostics

extension RootReader {
  mutating func readSchema(_ node: Node) {
    for element in context.list(node, "schema sources") ?? [] { readSource(element) }
  }

  private static let sources: [SchemaKey] = [.descriptorSet, .protos, .serviceConfig]

  private mutating func readSource(_ node: Node) {
    let section = Sections.schemaSource
    guard let map = MappingReader(node, section, context) else { return }
    let given = Self.sources.filter { map[$0] != nil }
    if let second = given.dropFirst().first {
      context.error(
        map.keyPosition(second), "a schema source has \(listed(given.map(\.rawValue)))",
        cure: "make a list entry of each of them")
      return
    }
    guard let kind = given.first, let value = map[kind] else {
      if Self.sources.contains(where: { map.wasMeant($0) }) { return }
      context.error(
        node.position, "\(section.name) needs `descriptor_set`, `protos` or `service_config`",
        cure: "write `- descriptor_set: FILE` or `- protos: [FILE]`")
      return
    }
    if kind != .protos, map[.importPaths] != nil {
      let cure = kind == .descriptorSet ? "a descriptor set has its imports" : "a service configuration has no imports"
      context.error(map.keyPosition(.importPaths), "`import_paths` is for `protos`", cure: cure)
    }
    switch kind {
    case .descriptorSet:
      if let path = context.path(value) {
        configuration.schema.append(
          SchemaSourceConfiguration(source: .descriptorSet(path: path.value), position: value.position))
      }
    case .serviceConfig: context.path(value).map { readServiceConfig($0) }
    case .protos, .importPaths: if let source = protos(value, map) { configuration.schema.append(source) }
    }
  }

  private func protos(_ node: Node, _ map: MappingReader<SchemaKey>) -> SchemaSourceConfiguration? {
    guard let files = context.texts(node, "`.proto` files", each: "a `.proto` file") else { return nil }
    if files.isEmpty {
      context.error(node.position, "no `.proto` file is named", cure: "write `protos: [package/v1/file.proto]`")
      return nil
    }
    var paths = [FilePath.folder(of: node.position.file)].map { $0.isEmpty ? "." : $0 }
    if let list = map[.importPaths], let nodes = context.list(list, "folders") {
      paths = nodes.compactMap { context.path($0)?.value }
    }
    return SchemaSourceConfiguration(
      source: .protos(files: files.map(\.value), importPaths: paths), position: files.first?.position ?? node.position)
  }
}
