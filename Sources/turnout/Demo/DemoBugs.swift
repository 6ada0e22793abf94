import Gateway
import RPC
import Synchronization

/// Two faults of the demo's new service, for `turnout demo --bug`: what a shadow finds, and what a guard stops.
final class DemoBugs: Sendable {
  /// `POST` here mends them.
  static let path = "/mend"

  private let isThere: Atomic<Bool>

  init(isThere: Bool) { self.isThere = Atomic(isThere) }

  func mend() { isThere.store(false, ordering: .relaxed) }

  /// An answer as the faulty service would give it: it counts views in 16 bits, and its search has no index.
  func spoil(_ method: DemoMethod, _ answer: JSONValue) throws(RPCError) -> JSONValue {
    guard isThere.load(ordering: .relaxed) else { return answer }
    switch method {
    case .searchEpisodes: throw RPCError(.internal, "the search index is not there")
    case .getEpisode:
      guard var members = answer.members else { return answer }
      for index in members.indices where members[index].name == "views" {
        members[index].value =
          members[index].value.number.map { .integer(UInt16(truncatingIfNeeded: Int($0))) } ?? .null
      }
      return .object(members)
    default: return answer
    }
  }
}
