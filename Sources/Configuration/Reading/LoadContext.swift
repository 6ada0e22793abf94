import Diagnostics

/// What one load gathers: the faults, the files that were read, the secrets, the keys that were seen.
final class LoadContext {
  /// Looks an environment variable up.
  let environment: (String) -> String?
  private(set) var diagnostics: [Diagnostic] = []
  private var known: Set<String> = []
  /// Files in the order in which they were opened.
  private(set) var files: [String] = []
  /// The texts of those of them that are written for this program, in the same order.
  private(set) var documents: [[UInt8]] = []
  /// Files whose content is no part of the configuration: keys and tokens, which may change without it.
  private(set) var credentialFiles: [String] = []
  /// Texts that came from `${env:}` and `${file:}`.
  private(set) var secrets: Set<String> = []
  /// Where each file has its first secret in clear text.
  private var clearSecrets: [String: SourcePosition] = [:]
  /// `section.key` of every key that was read.
  private(set) var seenKeys: Set<String> = []
  /// A file could not be read whole, so that what seems to be missing may stand in it.
  var isIncomplete = false

  /// Beyond, the rest is only counted.
  static let mostDiagnostics = 200

  init(environment: @escaping (String) -> String?) { self.environment = environment }

  func report(_ diagnostic: Diagnostic) {
    // The same scalar may be read by two checks.
    if known.insert(diagnostic.description).inserted { diagnostics.append(diagnostic) }
  }

  func error(_ position: SourcePosition, _ what: String, cure: String = "") {
    report(Diagnostic(at: position, what, cure: cure))
  }

  func warning(_ position: SourcePosition, _ what: String, cure: String = "") {
    report(Diagnostic(severity: .warning, at: position, what, cure: cure))
  }

  func opened(_ file: String) {
    if !files.contains(file) { files.append(file) }
  }

  func read(document: [UInt8]) { documents.append(document) }

  func names(credentials file: String) {
    if !credentialFiles.contains(file) { credentialFiles.append(file) }
  }

  func keep(secret: String) {
    if !secret.isEmpty { secrets.insert(secret) }
  }

  /// Keeps a secret that a file has in clear text, or that came from outside.
  ///
  /// - Parameter position: where it is written; nil: it came from outside.
  func keep(secret: String, writtenAt position: SourcePosition?) {
    keep(secret: secret)
    if let position, clearSecrets[position.file] == nil { clearSecrets[position.file] = position }
  }

  /// Warns of files with secrets that everybody on the machine can read.
  func checkClearSecrets() {
    for position in clearSecrets.values where SourceFile.isReadableByAll(position.file) {
      warning(
        position, "a secret stands here in clear text, and everybody on this machine can read the file",
        cure: "write `${env:NAME}` or `${file:PATH}` in its place, or take the right away: `chmod o-r \(position.file)`"
      )
    }
  }

  /// The nearest name; none any more when there are more faults than are shown.
  func nearest(_ name: String, in names: [String]) -> String? {
    diagnostics.count > Self.mostDiagnostics ? nil : Nearest.match(name, in: names)
  }

  func isSecret(_ text: String) -> Bool { secrets.contains(text) }

  func saw(_ key: String, of section: String) { seenKeys.insert("\(section).\(key)") }

  var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

  /// In the order of the files and of their lines, cut to what somebody can read.
  func sorted() -> [Diagnostic] {
    let order = Dictionary(files.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    func rank(_ diagnostic: Diagnostic) -> (Int, Int, Int) {
      let place = diagnostic.position
      return (order[place.file] ?? files.count, place.line, place.column)
    }
    let all = diagnostics.sorted { rank($0) < rank($1) }
    guard all.count > Self.mostDiagnostics, let next = all.dropFirst(Self.mostDiagnostics).first else { return all }
    let more = Diagnostic(
      severity: hasErrors ? .error : .warning, at: next.position,
      "\(all.count - Self.mostDiagnostics) more faults from here on")
    return all.prefix(Self.mostDiagnostics) + [more]
  }
}
