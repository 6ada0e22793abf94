import Diagnostics

/// What the files of keys, certificates and tokens hold, read for one snapshot.
///
/// When such a file has changed, the snapshot is made anew from the same configuration. A file whose new content is of
/// no use must not keep those from coming in that are good, nor take away what it held: so what it held goes on.
final class CredentialFiles {
  /// By what was read, and from where.
  typealias Content = [String: any Sendable]

  private let before: Content
  private(set) var content: Content = [:]
  /// Why files could not be used, of which the content of before goes on.
  private(set) var faults: [Diagnostic] = []

  /// - Parameter before: what goes on when a file cannot be used; empty: nothing does, it is a fault.
  init(before: Content = [:]) { self.before = before }

  /// Takes over what a file holds.
  ///
  /// - Parameters:
  ///   - name: what is read, and the path: the same after a change.
  ///   - read: reads it; nil with the faults when it cannot be used.
  /// - Returns: nil when there is nothing to use; and what is to be told.
  func take<Value: Sendable>(
    _ name: String, _ read: () -> (value: Value?, diagnostics: [Diagnostic])
  ) -> (value: Value?, diagnostics: [Diagnostic]) {
    let (value, diagnostics) = read()
    if let value {
      content[name] = value
      return (value, diagnostics)
    }
    guard let known = before[name] as? Value else { return (nil, diagnostics) }
    content[name] = known
    for fault in diagnostics where fault.severity == .error && !faults.contains(fault) { faults.append(fault) }
    return (known, [])
  }
}
