/// Why JSON could not become a message, or a message JSON.
package struct JSONError: Error, Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    /// Not RFC 8259.
    case syntax
    /// JSON of another type than the field's, or a text that is no value of it.
    case type
    /// The right type, but the value is outside what the field holds.
    case range
    case unknownField
    /// A member given twice; both spellings of a name count.
    case duplicate
    /// Two members of a oneof, or a value that contradicts one that is bound elsewhere.
    case conflict
    /// A required field that is not there.
    case missing
    case depth
    case utf8
    /// Malformed protobuf bytes.
    case wire
  }

  /// Where, as the client spelt it: `parcel.items[3].weightG`; empty for the whole document.
  package let path: String
  /// The byte of the input at which it failed: of the JSON when decoding, of the wire bytes when encoding.
  package let offset: Int
  /// What was expected, or what is wrong.
  package let reason: String
  package let kind: Kind

  package init(path: String, offset: Int, reason: String, kind: Kind) {
    self.path = path
    self.offset = offset
    self.reason = reason
    self.kind = kind
  }

  /// One line for a person.
  package var message: String {
    path.isEmpty ? "\(reason) (at byte \(offset))" : "\(path): \(reason) (at byte \(offset))"
  }
}

/// An error on its way up: the path is found only when it leaves the codec, so that success pays nothing for it.
struct Fault: Error {
  let kind: JSONError.Kind
  var offset: Int
  let reason: String
  /// Filled while encoding; when decoding, the path is found from the offset.
  var path = ""

  @inline(never)
  init(_ kind: JSONError.Kind, at offset: Int, _ reason: String) {
    self.kind = kind
    self.offset = offset
    self.reason = reason
  }

  static func missing(_ field: String, at offset: Int) -> Fault {
    Fault(.missing, at: offset, "a value expected: the field is required").inside(field)
  }

  /// The same fault seen from the message that holds the field.
  func inside(_ step: String) -> Fault {
    var outer = self
    if path.isEmpty {
      outer.path = step
    } else if path.utf8.count < 1024 {
      outer.path = path.hasPrefix("[") ? step + path : "\(step).\(path)"
    }
    return outer
  }

  /// The same fault at another place, for offsets in a copy of a part of the input.
  func moved(to offset: Int) -> Fault {
    var fault = self
    fault.offset = offset
    return fault
  }

  var error: JSONError { JSONError(path: path, offset: offset, reason: reason, kind: kind) }
}
