import Diagnostics

extension RootReader {
  func schema(_ node: Node) -> [SchemaSourceConfiguration] {
    (context.list(node, "schema sources") ?? []).compactMap { source($0) }
  }

  private func source(_ node: Node) -> SchemaSourceConfiguration? {
    let section = Sections.schemaSource
    guard let map = MappingReader(node, section, context) else { return nil }
    switch (map[.descriptorSet], map[.protos]) {
    case (let set?, nil):
      if map[.importPaths] != nil {
        context.error(
          map.keyPosition(.importPaths), "`import_paths` is for `protos`", cure: "a descriptor set has its imports")
      }
      return context.path(set).map {
        SchemaSourceConfiguration(source: .descriptorSet(path: $0.value), position: set.position)
      }
    case (nil, let protos?): return self.protos(protos, map)
    case (_?, _?):
      context.error(
        map.keyPosition(.protos), "a schema source is either `descriptor_set` or `protos`",
        cure: "make two list entries of them")
    case (nil, nil) where map.wasMeant(.descriptorSet) || map.wasMeant(.protos): break
    case (nil, nil):
      context.error(
        node.position, "\(section.name) needs `descriptor_set` or `protos`",
        cure: "write `- descriptor_set: FILE` or `- protos: [FILE]`")
    }
    return nil
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
