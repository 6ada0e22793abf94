import Bytes
import JSONValues
import Migration

/// What must hold of any bytes that are read as JSON of the control plane, as a document of a stage, or as a state file.
package enum DocumentCheck {
  /// The first property that does not hold.
  package static func fault(_ bytes: [UInt8]) -> String? {
    json(bytes) ?? stateFile(bytes)
  }

  private static func json(_ bytes: [UInt8]) -> String? {
    guard let value = try? JSONValue(parsing: bytes) else { return nil }
    let written = value.bytes
    guard let again = try? JSONValue(parsing: written) else {
      return "\(value) is written as what is no JSON: \(text(written))"
    }
    if again != value { return "\(value) is written and then \(again)" }
    return document(value)
  }

  private static func document(_ value: JSONValue) -> String? {
    guard let document = StageDocument(json: value) else { return nil }
    guard StageDocument(json: document.json) == document else { return "\(document) is not what it is written as" }
    // It is the newest of its route, and what is set after it is newer still.
    var ledger = StageLedger(writer: "f", replica: "fuzzer")
    guard ledger.merge(document), !ledger.merge(document) else { return "\(document) is not merged once" }
    var state = StageState(procedure: document.procedure, configured: document.configured)
    _ = state.restore(document.overlay, StageOrigin(.peer, at: 1))
    _ = state.hold(!state.isHeld, StageOrigin(.admin, at: 1))
    guard let next = ledger.record(state, at: 1) else { return "a change after \(document) is no document" }
    return next.version > document.version ? nil : "\(next.version) is not after \(document.version)"
  }

  private static func stateFile(_ bytes: [UInt8]) -> String? {
    let content: StateFileContent
    do throws(StateFault) {
      content = try StateFileContent(parsing: bytes)
    } catch {
      return error.reason.isEmpty ? "refused without a reason" : nil
    }
    guard (try? StateFileContent(parsing: content.bytes(writtenAt: "now"))) == content else {
      return "\(content) is not what it is written as"
    }
    return nil
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
