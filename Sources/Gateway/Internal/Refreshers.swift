import EventLoops

/// Looks after the resources of a snapshot on one loop, for all: fetches them when the gateway starts, and ahead of
/// their end.
final class Refreshers {
  private final class Refresher {
    let resource: any RefreshedResource
    private unowned let worker: Worker
    private lazy var timer = Timer(loop: worker.loop) { [unowned self] in look() }

    init(_ resource: any RefreshedResource, _ worker: Worker) {
      self.resource = resource
      self.worker = worker
    }

    func look() { timer.schedule(at: resource.refresh(on: worker)) }
  }

  private unowned let worker: Worker
  private var refreshers: [ObjectIdentifier: Refresher] = [:]

  init(worker: Worker) { self.worker = worker }

  /// Looks after these from now on, and no others.
  func follow(_ resources: [any RefreshedResource]) {
    var followed: [ObjectIdentifier: Refresher] = [:]
    for resource in resources {
      let identifier = ObjectIdentifier(resource)
      if followed[identifier] != nil { continue }
      let refresher = refreshers[identifier] ?? Refresher(resource, worker)
      followed[identifier] = refresher
      if refreshers[identifier] == nil { refresher.look() }
    }
    refreshers = followed
  }
}
