import HTTPModel

/// How the gateway proves to an upstream who it is: part of a plan, shared by all loops.
enum OutgoingCredentials: Sendable {
  case fixed(CredentialField)
  /// Fetched ahead of its end, for all loops.
  case token(SharedResource<CredentialField>)
}

/// A field that carries a secret.
struct CredentialField: Sendable {
  private let name: [UInt8]
  private let value: [UInt8]

  init(_ name: String, _ value: String) {
    self.name = Array(name.utf8)
    self.value = Array(value.utf8)
  }

  /// In place of what a caller sent.
  func apply(to fields: FieldBlock) {
    fields.remove(named: name.span)
    fields.append(name.span, value.span)
  }
}

/// The credentials of an upstream as one loop uses them.
final class PoolCredentials {
  let credentials: OutgoingCredentials
  unowned let worker: Worker
  /// Whether there may be newer ones when an upstream refuses these.
  var areFetched: Bool { if case .token = credentials { true } else { false } }

  init(_ credentials: OutgoingCredentials, worker: Worker) {
    self.credentials = credentials
    self.worker = worker
  }
}
