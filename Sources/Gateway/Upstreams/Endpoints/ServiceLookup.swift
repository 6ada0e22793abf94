import EventLoops

/// From the name of a service to its servers: the records, then the addresses of each name in them.
final class ServiceLookup {
  typealias Outcome = Result<(servers: [EndpointServer], timeToLive: Duration), ResolverError>

  /// Not held: it ends with its name servers, and then says so to those who wait, of whom this is one.
  private weak var resolver: Resolver?
  private let name: String
  private var servers: [EndpointServer] = []
  private var timeToLive = Duration.seconds(1)
  private var open = 0
  private var failure: ResolverError?

  init(_ resolver: Resolver, _ name: String) {
    self.resolver = resolver
    self.name = name
  }

  func run(_ completion: @escaping (Outcome) -> Void) {
    resolver?.services(name) { [self] result in
      switch result {
      case .failure(let error): completion(.failure(error))
      case .success(let answer):
        timeToLive = answer.timeToLive
        open = answer.records.count
        // A weight of 0 is a small one, not none (RFC 2782).
        for record in answer.records { look(up: record, completion) }
      }
    }
  }

  private func look(up record: ServiceRecord, _ completion: @escaping (Outcome) -> Void) {
    resolver?.resolve(host: record.host, port: record.port) { [self] result in
      switch result {
      case .success(let answer):
        timeToLive = min(timeToLive, answer.timeToLive)
        servers += answer.addresses.map { address in
          EndpointServer(
            place: .address(address), host: record.host, authority: "\(record.host):\(record.port)",
            priority: Int(record.priority), weight: Swift.max(1, Int(record.weight)))
        }
      case .failure(let error):
        // The others serve meanwhile; it is asked again soon.
        failure = error
        timeToLive = min(timeToLive, .seconds(5))
      }
      open -= 1
      guard open == 0 else { return }
      if servers.isEmpty, let failure { return completion(.failure(failure)) }
      completion(.success((servers, timeToLive)))
    }
  }
}
