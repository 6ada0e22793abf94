import CAres
import Glibc

/// One server of a service (RFC 2782).
public struct ServiceRecord: Sendable, Hashable {
  /// A name without the final dot.
  public var host: String
  public var port: UInt16
  /// Lower ones are asked first.
  public var priority: UInt16
  /// Its share beside the others of its priority.
  public var weight: UInt16
}

extension Resolver {
  public typealias Services = (records: [ServiceRecord], timeToLive: Duration)
  public typealias ServicesCompletion = (Result<Services, ResolverError>) -> Void

  /// Records of one answer; more are not looked at.
  static let mostServices = 256

  /// Finds the servers of a service by its name (`_http._tcp.example.com`), asked of DNS only. Sorted, so that equal
  /// answers are equal.
  public func services(_ name: String, _ completion: @escaping ServicesCompletion) {
    let query = ServiceQuery(name: name, resolver: self, completion)
    guard !name.utf8.contains(0), let channel = usableChannel else {
      query.answered(ARES_EBADNAME, nil)
      query.deliver()
      return
    }
    ask(query, channel)
  }
}

/// One question for service records.
final class ServiceQuery {
  private let name: String
  private weak var resolver: Resolver?
  private let completion: Resolver.ServicesCompletion
  private var result: Result<Resolver.Services, ResolverError>?

  init(name: String, resolver: Resolver, _ completion: @escaping Resolver.ServicesCompletion) {
    self.name = name
    self.resolver = resolver
    self.completion = completion
  }

  /// Hands the query to the library, which holds it until it calls back.
  func start(on channel: ares_channel) {
    let classIN: CInt = 1
    let typeSRV: CInt = 33
    ares_query(
      channel, name, classIN, typeSRV,
      { argument, status, _, bytes, length in
        guard let argument else { return }
        let query = Unmanaged<ServiceQuery>.fromOpaque(argument).takeRetainedValue()
        query.answered(status, UnsafeBufferPointer(start: bytes, count: max(0, Int(length))))
        query.resolver?.finish(query)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  func answered(_ status: CInt, _ bytes: UnsafeBufferPointer<UInt8>?) {
    guard status == ARES_SUCCESS, let bytes, let start = bytes.baseAddress else {
      result = .failure(ResolverError(host: name, status: status, at: resolver))
      return
    }
    var list: UnsafeMutablePointer<ares_srv_reply>?
    let outcome = ares_parse_srv_reply(start, CInt(clamping: bytes.count), &list)
    defer { if let list { ares_free_data(list) } }
    guard outcome == ARES_SUCCESS else {
      result = .failure(ResolverError(host: name, status: outcome))
      return
    }
    var records: [ServiceRecord] = []
    var node = list
    while let current = node?.pointee, records.count < Resolver.mostServices {
      if let host = current.host.map({ String(cString: $0) }), !host.isEmpty, host != "." {
        records.append(
          ServiceRecord(
            host: host.hasSuffix(".") ? String(host.dropLast()) : host, port: current.port,
            priority: current.priority, weight: current.weight))
      }
      node = current.next
    }
    // A single record whose target is the root says that there is no such service.
    guard !records.isEmpty else {
      result = .failure(ResolverError(host: name, status: ARES_ENODATA))
      return
    }
    records.sort { ($0.priority, $0.host, $0.port) < ($1.priority, $1.host, $1.port) }
    let seconds = AnswerTimes.shortest(Array(bytes)) ?? 1
    result = .success((records, .seconds(Int64(max(1, seconds)))))
  }

  func deliver(cancelled: Bool = false) {
    if cancelled { result = result ?? .failure(ResolverError(host: name, status: ARES_EDESTRUCTION)) }
    if let result { completion(result) }
  }
}

/// Times to live in a DNS answer: the library's form of service records has none.
enum AnswerTimes {
  /// The shortest of the answer section, in seconds; nil when it cannot be read.
  static func shortest(_ bytes: [UInt8]) -> UInt32? {
    guard bytes.count >= 12 else { return nil }
    var at = 12
    for _ in 0..<word(bytes, 4) {
      guard let end = skipName(bytes, at), end + 4 <= bytes.count else { return nil }
      at = end + 4
    }
    var shortest: UInt32?
    for _ in 0..<word(bytes, 6) {
      guard let end = skipName(bytes, at), end + 10 <= bytes.count else { return nil }
      let seconds = UInt32(word(bytes, end + 4)) << 16 | UInt32(word(bytes, end + 6))
      shortest = min(shortest ?? .max, seconds)
      at = end + 10 + word(bytes, end + 8)
    }
    return shortest
  }

  private static func word(_ bytes: [UInt8], _ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }

  /// Where a name ends: with its root, or with a pointer.
  private static func skipName(_ bytes: [UInt8], _ start: Int) -> Int? {
    var at = start
    while at < bytes.count {
      let length = Int(bytes[at])
      if length == 0 { return at + 1 }
      if length >= 0xC0 { return at + 2 }
      at += 1 + length
    }
    return nil
  }
}
