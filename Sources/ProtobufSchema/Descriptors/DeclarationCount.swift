extension FileDescriptor {
  /// How much it declares: two releases of one file are compared by it.
  var declarationCount: Int {
    messages.reduce(extensions.count + services.count) { $0 + $1.declarationCount }
      + enums.reduce(0) { $0 + 1 + $1.values.count }
  }

  /// Full names.
  var serviceNames: [String] { services.map { SchemaBuilder.join(package, $0.name) } }
}

extension MessageDescriptor {
  fileprivate var declarationCount: Int {
    nested.reduce(1 + fields.count + extensions.count) { $0 + $1.declarationCount }
      + enums.reduce(0) { $0 + 1 + $1.values.count }
  }
}
