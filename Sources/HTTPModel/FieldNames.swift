/// A set of known field names, as bits.
public struct FieldNames: OptionSet, Sendable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The set of one name; empty for `other`, which is not one name.
  @inline(__always)
  public init(_ name: FieldName) {
    rawValue = name == .other ? 0 : 1 << UInt64(name.rawValue)
  }

  public init(arrayLiteral names: FieldName...) {
    rawValue = names.reduce(0) { $0 | FieldNames($1).rawValue }
  }

  @inline(__always)
  public func contains(_ name: FieldName) -> Bool {
    rawValue & FieldNames(name).rawValue != 0
  }

  @inline(__always)
  public func intersects(_ other: FieldNames) -> Bool { rawValue & other.rawValue != 0 }
}
