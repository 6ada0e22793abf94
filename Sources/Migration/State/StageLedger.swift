/// The newest document of each route, whoever wrote it: here, before a restart, or in another replica.
package struct StageLedger: Sendable {
  /// Routes that are remembered; an API has some hundreds.
  package static let capacity = 10_000

  /// Who this is, as a writer of documents, in hexadecimal: not the same for two that run at the same time.
  package let writer: String
  /// The same for people.
  package let replica: String
  package private(set) var documents: [String: StageDocument] = [:]
  private var newest: Int64 = 0

  package init(writer: String, replica: String) {
    self.writer = writer
    self.replica = replica
  }

  /// A route as it stands now.
  ///
  /// - Parameter now: nanoseconds since 1970; the time of the change, where it was before this ledger began.
  /// - Returns: the document to be kept and shared; nil when it would say nothing new.
  package mutating func record(_ state: StageState, at now: Int64) -> StageDocument? {
    let known = documents[state.procedure]
    if let known {
      if known.configured == state.configured, known.overlay == state.overlay { return nil }
    } else if state.overlay.isEmpty {
      return nil
    }
    guard known != nil || documents.count < Self.capacity else { return nil }
    newest = max(now, newest &+ 1)
    let document = StageDocument(
      procedure: state.procedure, version: .init(time: newest, writer: writer), replica: replica,
      configured: state.configured, overlay: state.overlay)
    documents[state.procedure] = document
    return document
  }

  /// A document from elsewhere.
  ///
  /// - Returns: whether it is newer than what was known, and is the known one now.
  package mutating func merge(_ document: StageDocument) -> Bool {
    let known = documents[document.procedure]
    guard known.map({ $0.version < document.version }) ?? (documents.count < Self.capacity) else { return false }
    documents[document.procedure] = document
    // What is written here after this is newer, whoever's clock is ahead.
    newest = max(newest, document.version.time)
    return true
  }

  /// In the order of the procedures.
  package var sorted: [StageDocument] { documents.values.sorted { $0.procedure < $1.procedure } }
}
