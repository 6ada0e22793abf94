import EventLoops
import HTTPModel

/// Who calls.
extension Call {
  /// The client's address, for limits, logs and whatever tells callers apart: behind proxies that are trusted the one
  /// that they tell, else the peer's. Nil when the client has left.
  var clientAddress: SocketAddress? { forwardedAddress ?? client?.caller?.address }

  /// Reads what proxies tell of the client, and writes what upstreams are told.
  func readForwarded() {
    guard let origin = client?.caller else {
      plans.snapshot.guardedNames.clean(head.fields, forwarded: false, isTrusted: false)
      return
    }
    forwardedAddress = ForwardedFields.rewrite(head, from: origin, worker)
  }
}
