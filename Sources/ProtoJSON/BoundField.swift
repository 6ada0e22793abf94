/// A value bound from elsewhere (the path of a URL) inside the message that a body is decoded into.
///
/// Equal in the body is fine; different is an error of kind ``JSONError/Kind/conflict``; absent is appended while the
/// parent is open, missing parents whole. A sibling of it in the same oneof is a conflict too. At most 64 at a time.
package struct BoundField: Sendable, Equatable {
  /// Indices into ``MessageType/fields``, from the decoded message down; all but the last are singular messages.
  package let fieldPath: [Int]
  /// Tag and value as ``JSONCodec/decodeText(_:message:field:into:)`` writes them.
  package let wire: [UInt8]

  package init(fieldPath: [Int], wire: [UInt8]) {
    self.fieldPath = fieldPath
    self.wire = wire
  }
}

/// What a body said besides its values.
package struct DecodingOutcome: Sendable, Equatable {
  /// Whether ``maskPaths`` is to be filled (PATCH without an explicit mask).
  package var collectsMask: Bool
  /// One path per leaf that the JSON holds, explicit nulls too: proto names, in the order of the JSON, relative to
  /// the decoded message. Maps, repeated fields, well-known types and empty messages are leaves.
  package var maskPaths: [String]
  /// Paths of members that the schema does not know, as the client spelt them; the first 64.
  package var unknownFields: [String]

  package init(collectsMask: Bool = false) {
    self.collectsMask = collectsMask
    maskPaths = []
    unknownFields = []
  }

  static let maximumUnknownFields = 64
  /// Bounds on a mask: deep trees would make it far bigger than the body.
  static let maximumMaskPaths = 8_192
  static let maximumMaskBytes = 1_048_576
}
