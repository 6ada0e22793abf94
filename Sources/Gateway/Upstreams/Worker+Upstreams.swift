import Configuration
import EventLoops

/// The upstreams of one loop, beside what calls ask of them.
extension Worker {
  func endpointSet(
    _ identity: EndpointIdentity, _ configuration: EndpointConfiguration, _ upstream: UpstreamConfiguration,
    _ state: UpstreamState, _ security: UpstreamSecurity?
  ) -> EndpointSet {
    if let known = endpoints[identity] {
      known.adopt(configuration, upstream)
      return known
    }
    let set = EndpointSet(
      identity: identity, configuration: configuration, upstream: upstream, state: state, security: security,
      worker: self)
    endpoints[identity] = set
    return set
  }

  /// From now on upstreams are looked after: names are asked, connections opened, endpoints checked.
  func attend() {
    shared.loops.enter(index, loop.mailbox)
    isAttending = true
    attendUpstreams()
  }

  /// The endpoints of an upstream have changed.
  func membersChanged() { attendUpstreams() }

  func attendUpstreams() {
    guard isAttending, !isDraining else { return }
    for pool in plans.pools where pool.configuration.isAttended {
      for set in pool.sets { set.refresh() }
      pool.update()
      for member in pool.members { member.warm() }
    }
    if index == 0 { healthChecker.follow(plans) }
  }

  /// Closes an idle connection of an upstream, for another one; false when there is none.
  func closeIdleConnection(of upstream: String) -> Bool {
    endpoints.values.contains { set in
      set.identity.upstream == upstream && set.members.contains { $0.closeOneIdle() }
    }
  }

  /// There may be another connection to an upstream.
  func connectionPlaceIsFree(of upstream: String) {
    for set in endpoints.values where set.identity.upstream == upstream {
      for member in set.members { member.serveWaiting() }
    }
    for endpoint in leftBehind where endpoint.identity.upstream == upstream { endpoint.serveWaiting() }
    leftBehind.removeAll { !$0.hasWaiting }
  }
}
