/// `json:`, how the JSON of a legacy API differs from ProtoJSON. Without any key it does not.
package struct JSONSettings: Sendable, Hashable {
  /// `field_names:`
  package enum FieldNames: String, Sendable, CaseIterable {
    case json
    case proto
  }

  /// `int64:`, of all 64-bit integers.
  package enum Int64Form: String, Sendable, CaseIterable {
    case string
    case number
  }

  /// `enums:`
  package enum EnumForm: String, Sendable, CaseIterable {
    case name
    case number
  }

  /// `enum_prefix:`, whether `COLOR_RED` of the enum Color is written as `RED`.
  package enum EnumPrefix: String, Sendable, CaseIterable {
    case keep
    case strip
  }

  /// `enum_case:`, whether `COLOR_RED` is written as `color_red`.
  package enum EnumCase: String, Sendable, CaseIterable {
    case keep
    case lower
  }

  /// `unset:`, what is written for a field that is not set.
  package enum Unset: String, Sendable, CaseIterable {
    case omit
    case null
  }

  /// `timestamps:`
  package enum Timestamps: String, Sendable, CaseIterable {
    case rfc3339
    case rfc3339Milliseconds = "rfc3339_ms"
    case local, sql
    case unix
    case unixMilliseconds = "unix_ms"
  }

  /// `reading:`, whether values are read that ProtoJSON refuses.
  package enum Reading: String, Sendable, CaseIterable {
    case strict
    case lenient
  }

  /// `unknown_fields:`, what becomes of members that the schema does not know.
  package enum UnknownFields: String, Sendable, CaseIterable {
    case reject
    case ignore
    case report
  }

  /// Whether fields with their default are written too (Default: false).
  package var emitDefaults = false
  package var fieldNames = FieldNames.json
  package var int64 = Int64Form.string
  package var enums = EnumForm.name
  package var enumPrefix = EnumPrefix.keep
  package var enumCase = EnumCase.keep
  package var unset = Unset.omit
  package var timestamps = Timestamps.rfc3339
  package var unknownFields = UnknownFields.reject
  package var reading = Reading.strict

  package init() {}
}
