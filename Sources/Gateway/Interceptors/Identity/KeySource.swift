import Bytes
import Configuration
import EventLoops
import HTTPModel
import Tokens

/// What makes a published key set the same after a reload.
struct KeySourceIdentity: Hashable, Sendable {
  var origin: String
  var target: String
  /// Of its TLS; empty without.
  var security: [UInt8]
  var refresh: Duration
}

/// The keys of one issuer: published at a URL, or from a file that was read with the configuration.
enum KeySource: Sendable {
  case fixed(KeySet)
  case published(SharedResource<KeySet>)

  /// Between two requests for a key that is not among those that are known, over all loops: whoever sends tokens of keys
  /// that nobody has must not make requests of them.
  static let unknownKeyPause: Duration = .seconds(10)
  private static let patience: Duration = .seconds(5)

  static func published(
    _ origin: InternalOrigin, refresh: Duration, _ registry: ResourceRegistry<KeySourceIdentity, KeySet>
  ) -> KeySource {
    let identity = KeySourceIdentity(
      origin: origin.resource.origin, target: origin.resource.target, security: origin.security?.fingerprint ?? [],
      refresh: refresh)
    let resource = registry.resource(identity) {
      SharedResource(name: "the key set of \(origin.resource.origin)") { worker, completion in
        fetch(origin, refresh, on: worker, completion)
      }
    }
    return .published(resource)
  }

  private static func fetch(
    _ origin: InternalOrigin, _ refresh: Duration, on worker: Worker,
    _ completion: @escaping SharedResource<KeySet>.Completion
  ) {
    let request = origin.request()
    request.fields.append(.accept, "application/jwk-set+json, application/json")
    worker.internalClient.send(request, to: origin, within: patience, limit: KeySet.maximumBytes) { result in
      completion(
        result.flatMap { reply in
          guard reply.status == 200 else {
            return .failure(InternalFailure(kind: .unusable, reason: "the answer has status \(reply.status)"))
          }
          do throws(TokenFault) {
            let keys = try KeySet(parsing: reply.body.bytes)
            return .success(.init(value: keys, refreshIn: refresh, usableFor: nil))
          } catch {
            return .failure(InternalFailure(kind: .unusable, reason: error.reason))
          }
        })
    }
  }

  /// Nil: they have never been there.
  func current(at now: Instant) -> KeySet? {
    switch self {
    case .fixed(let keys): keys
    case .published(let resource): resource.current(at: now)?.value
    }
  }

  /// Changes with the keys.
  var generation: Int {
    switch self {
    case .fixed: 0
    case .published(let resource): resource.generation
    }
  }
}
