import Bytes
import ProtoJSON
import RPC

/// The body of an error in the shape of an old API: JSON with places to fill in.
package struct ErrorTemplate: Sendable, Hashable {
  package enum Slot: Sendable, Hashable {
    /// `not_found`, `NOT_FOUND`, 5, 404, the message, the list of details.
    case code, upperCaseCode, number, status, message, details
    /// That of the error's google.rpc.ErrorInfo; `NOT_FOUND` where it has none.
    case reason
  }

  private enum Segment: Sendable, Hashable {
    case json([UInt8])
    /// A JSON value.
    case value(Slot)
    /// Between the quotes of a JSON text.
    case text(Slot)
  }

  private var segments: [Segment] = []
  /// Where the places are, to read errors of this shape.
  package var shape = Shape.any

  package init() {}

  /// Appends JSON as it is.
  package mutating func append(json: String) { append(Array(json.utf8)) }

  /// Appends a text with its quotes.
  package mutating func append(text: String) {
    var quoted = ByteBuffer()
    JSONText.append(text, into: &quoted)
    append(quoted.bytes)
  }

  /// Appends a part of a text, without quotes.
  package mutating func append(partOfText text: String) {
    var quoted = ByteBuffer()
    JSONText.append(text, into: &quoted)
    append(Array(quoted.bytes.dropFirst().dropLast()))
  }

  package mutating func append(_ slot: Slot) { segments.append(.value(slot)) }

  package mutating func append(partOfText slot: Slot) { segments.append(.text(slot)) }

  private mutating func append(_ json: [UInt8]) {
    if case .json(let before)? = segments.last {
      segments[segments.count - 1] = .json(before + json)
    } else {
      segments.append(.json(json))
    }
  }

  /// Writes the body of an error.
  ///
  /// - Parameter codec: renders the details.
  func write(_ error: RPCError, codec: JSONCodec, into output: inout ByteBuffer) {
    for segment in segments {
      switch segment {
      case .json(let bytes): output.append(bytes)
      case .value(.details): RESTErrors.write(error.details, codec, into: &output)
      case .value(.number): output.append(decimal: error.code.rawValue)
      case .value(.status): output.append(decimal: error.httpStatus ?? error.code.httpStatus)
      case .value(let slot): JSONText.append(Self.text(of: slot, error), into: &output)
      case .text(let slot):
        var quoted = ByteBuffer()
        JSONText.append(Self.text(of: slot, error), into: &quoted)
        output.append(quoted, 1..<quoted.count - 1)
      }
    }
  }

  private static func text(of slot: Slot, _ error: RPCError) -> String {
    switch slot {
    case .code: "\(error.code.name)"
    case .upperCaseCode: StatusTable.upperCaseName(of: error.code)
    case .number: "\(error.code.rawValue)"
    case .status: "\(error.httpStatus ?? error.code.httpStatus)"
    case .message: error.message
    case .reason: ErrorInfo.reason(of: error) ?? StatusTable.upperCaseName(of: error.code)
    // Never a part of a text.
    case .details: ""
    }
  }
}
