import JSONValues
import RPC

/// What a state file holds: the documents of all routes, those that are not served at present too.
package struct StateFileContent: Sendable, Equatable {
  /// Of the form; another one is not read.
  package static let form = 1
  /// Bytes of a file that is read.
  package static let maximumBytes = 16 << 20

  package var documents: [StageDocument]

  package init(_ documents: [StageDocument]) { self.documents = documents }

  /// - Parameter writtenAt: for people.
  package func bytes(writtenAt: String) -> [UInt8] {
    let content: JSONValue = [
      "turnout_state": .integer(Self.form), "written_at": .string(writtenAt),
      "routes": .array(documents.map(\.json)),
    ]
    return content.bytes + [UInt8(ascii: "\n")]
  }

  /// Reads a file.
  ///
  /// - Throws: why it is none of this form. A route that does not make sense makes the file broken: who changed it by
  ///   hand has to see it, and half of what was set is worse than the file's stages.
  package init(parsing bytes: [UInt8]) throws(StateFault) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw StateFault("it is not whole JSON: \(error.message)")
    }
    guard let form = value["turnout_state"] else { throw StateFault("it is not a state file") }
    guard form == .integer(Self.form) else {
      throw StateFault("it has form \(form.number.map { "\(Int(clamping: $0))" } ?? "unknown"), not \(Self.form)")
    }
    guard let routes = value["routes"]?.elements else { throw StateFault("it has no routes") }
    var documents: [StageDocument] = []
    for (index, route) in routes.enumerated() {
      guard let document = StageDocument(json: route) else {
        throw StateFault("its route number \(index + 1) does not make sense")
      }
      documents.append(document)
    }
    self.init(documents)
  }
}

/// Why a state file cannot be used.
package struct StateFault: Error, Sendable, Equatable {
  package var reason: String

  package init(_ reason: String) { self.reason = reason }
}

extension Int {
  fileprivate init(clamping number: Double) {
    self = number.isFinite ? Int(Swift.max(-1e9, Swift.min(1e9, number))) : -1
  }
}
