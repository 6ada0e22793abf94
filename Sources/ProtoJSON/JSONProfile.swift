/// How JSON looks where it differs from plain ProtoJSON: the habits of a legacy API.
///
/// The output options change only what is written. What is read stays what ProtoJSON accepts (both field spellings,
/// quoted and bare integers, enum names and numbers); ``stripEnumPrefix``, ``lowerCaseEnums`` and ``timestamps`` accept their
/// own form besides. ``isLenient`` alone widens it.
package struct JSONProfile: Sendable, Hashable {
  package enum Timestamps: Sendable, Hashable {
    case rfc3339
    /// With three digits of a fraction in any case, as `Date.toISOString` of JavaScript writes it; finer ones are cut.
    case rfc3339Milliseconds
    /// `2026-01-31T12:00:00`, UTC without saying so.
    case local
    /// `2026-01-31 12:00:00`, UTC without saying so.
    case sql
    /// Seconds since 1970 as a number, with a fraction only when there is one.
    case unix
    /// Milliseconds since 1970 as a number.
    case unixMilliseconds

    var isNumber: Bool { self == .unix || self == .unixMilliseconds }
  }

  package enum UnknownFields: Sendable, Hashable {
    case reject
    /// Dropped; their names are in ``DecodingOutcome/unknownFields``.
    case ignore
    /// As `ignore`: the caller makes more noise about the names.
    case report
  }

  /// Writes fields without presence that hold their default, and empty lists and maps.
  package var emitDefaults: Bool
  /// Writes the names of the `.proto` file instead of the JSON names.
  package var protoFieldNames: Bool
  /// Writes 64-bit integers bare instead of quoted.
  package var int64AsNumber: Bool
  package var enumsAsNumbers: Bool
  /// Writes `HD` for the value `QUALITY_HD` of the enum `Quality`, and reads it too.
  package var stripEnumPrefix: Bool
  /// Writes the names of enum values in lower case, and reads them too.
  package var lowerCaseEnums: Bool
  /// Writes `null` for unset fields with presence; not for members of a oneof.
  package var unsetAsNull: Bool
  package var timestamps: Timestamps
  package var unknownFields: UnknownFields
  /// Whether values are read that ProtoJSON refuses and loosely typed backends write; see ``MessageDecoder/loose(_:into:)``.
  package var isLenient: Bool

  package init(
    emitDefaults: Bool = false, protoFieldNames: Bool = false, int64AsNumber: Bool = false,
    enumsAsNumbers: Bool = false, stripEnumPrefix: Bool = false, lowerCaseEnums: Bool = false,
    unsetAsNull: Bool = false, timestamps: Timestamps = .rfc3339, unknownFields: UnknownFields = .reject,
    isLenient: Bool = false
  ) {
    self.emitDefaults = emitDefaults
    self.protoFieldNames = protoFieldNames
    self.int64AsNumber = int64AsNumber
    self.enumsAsNumbers = enumsAsNumbers
    self.stripEnumPrefix = stripEnumPrefix
    self.lowerCaseEnums = lowerCaseEnums
    self.unsetAsNull = unsetAsNull
    self.timestamps = timestamps
    self.unknownFields = unknownFields
    self.isLenient = isLenient
  }

  /// Whether times are read that do not name their zone.
  var readsLooseTimes: Bool { isLenient || timestamps == .local || timestamps == .sql }

  /// Plain ProtoJSON.
  package static let standard = JSONProfile()
}
