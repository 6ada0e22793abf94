import Configuration
import HTTPModel

/// Fields that are set, added and removed, ready to be applied.
struct HeaderChanges: Sendable {
  private struct Name: Sendable {
    var known: FieldName
    var bytes: [UInt8]

    init(_ text: String) {
      let name = Array(text.utf8)
      known = FieldName(name.span)
      bytes = name
    }
  }

  private struct Field: Sendable {
    var name: [UInt8]
    var value: [UInt8]
  }

  private let removed: [Name]
  private let added: [Field]

  /// Nil when nothing is to be changed.
  init?(_ configuration: HeaderChangesConfiguration) {
    if configuration.isEmpty { return nil }
    removed = (configuration.remove + configuration.set.map(\.name)).map { Name($0) }
    added = (configuration.set + configuration.add).map {
      Field(name: Array($0.name.utf8), value: Array($0.value.utf8))
    }
  }

  func apply(to fields: FieldBlock) {
    for name in removed {
      if name.known == .other { fields.remove(named: name.bytes.span) } else { fields.remove(name.known) }
    }
    for field in added { fields.append(field.name.span, field.value.span) }
  }
}
