/// A set of known field names, as bits.
package struct FieldNames: OptionSet, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The set of one name; empty for `other`, which is not one name.
  package init(_ name: FieldName) {
    rawValue = name == .other ? 0 : 1 << UInt64(name.rawValue)
  }

  package init(arrayLiteral names: FieldName...) {
    rawValue = names.reduce(0) { $0 | FieldNames($1).rawValue }
  }

  @inline(__always)
  package func contains(_ name: FieldName) -> Bool {
    rawValue & FieldNames(name).rawValue != 0
  }

  @inline(__always)
  package func intersects(_ other: FieldNames) -> Bool { rawValue & other.rawValue != 0 }
}
