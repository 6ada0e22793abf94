import CAres
import Glibc

/// One name that is being looked up, and who waits for it.
final class ResolverQuery {
  let host: String
  private weak var resolver: Resolver?
  private var waiting: [(port: UInt16, completion: Resolver.Completion)] = []
  private var result: Result<Resolver.Resolution, ResolverError>?

  init(host: String, resolver: Resolver) {
    self.host = host
    self.resolver = resolver
  }

  func add(port: UInt16, _ completion: @escaping Resolver.Completion) {
    waiting.append((port, completion))
  }

  /// Hands the query to the library, which holds it until it calls back.
  func start(on channel: ares_channel) {
    var hints = ares_addrinfo_hints()
    hints.ai_family = AF_UNSPEC
    // Without a type of socket each address would come once per type.
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    ares_getaddrinfo(
      channel, host, nil, &hints,
      { argument, status, _, answer in
        guard let argument else { return }
        let query = Unmanaged<ResolverQuery>.fromOpaque(argument).takeRetainedValue()
        query.answered(status, answer)
        if let answer { ares_freeaddrinfo(answer) }
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func answered(_ status: CInt, _ answer: UnsafeMutablePointer<ares_addrinfo>?) {
    if status == ARES_SUCCESS, let answer {
      result = read(answer)
    } else {
      result = .failure(ResolverError(host: host, status: status, at: resolver))
    }
    resolver?.finish(self)
  }

  private func read(_ answer: UnsafeMutablePointer<ares_addrinfo>) -> Result<Resolver.Resolution, ResolverError> {
    var addresses: [SocketAddress] = []
    var seconds = CInt.max
    var node = answer.pointee.nodes
    while let current = node?.pointee {
      let bytes = UnsafeRawBufferPointer(start: current.ai_addr, count: Int(current.ai_addrlen))
      if let address = SocketAddress(kernelForm: bytes), !addresses.contains(address) {
        addresses.append(address)
        seconds = min(seconds, current.ai_ttl)
      }
      node = current.ai_next
    }
    var alias = answer.pointee.cnames
    while let current = alias?.pointee {
      seconds = min(seconds, current.ttl)
      alias = current.next
    }
    if addresses.isEmpty { return .failure(ResolverError(host: host, status: ARES_ENODATA)) }
    return .success((addresses, .seconds(Int64(max(1, seconds)))))
  }

  /// Tells all who wait, in the order in which they asked.
  func deliver(_ fallback: Result<Resolver.Resolution, ResolverError>? = nil) {
    guard let result = result ?? fallback else { return }
    let told = waiting
    waiting = []
    for (port, completion) in told {
      completion(
        result.map { resolution in
          let addresses = resolution.addresses.map { address in
            var address = address
            address.port = port
            return address
          }
          return (addresses, resolution.timeToLive)
        })
    }
  }
}
