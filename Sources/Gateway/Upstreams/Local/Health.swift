import Bytes
import Configuration
import EventLoops
import ProtoJSON
import ProtobufSchema
import RPC

/// `grpc.health.v1.HealthCheckResponse.ServingStatus`.
enum ServingStatus: UInt64 {
  case serving = 1
  case notServing = 2
  case serviceUnknown = 3
}

extension Worker {
  /// What the gateway says of a service, or of itself by the empty name; nil for one that it has no route of.
  ///
  /// It is the gateway's own state: who asks decides whether to send calls here. A backend that is down is told by the
  /// calls to it; if it counted here, a mesh would take every gateway away at once.
  func servingStatus(of service: String) -> ServingStatus? {
    guard service.isEmpty || plans.snapshot.hasService(service) else { return nil }
    return isDraining ? .notServing : .serving
  }

  /// The services or the state have changed.
  func updateHealthWatches() {
    for watch in Array(healthWatches.values) { watch.update() }
  }
}

/// `Health/Watch`: the status of a service now, and whenever it changes.
///
/// It is repeated before `timeouts.stream_idle` would end the stream. When the gateway drains it says so and ends, for
/// the stream would hold the drain up.
final class HealthWatch: LocalAnswerer {
  private unowned let worker: Worker
  private weak var exchange: LocalExchange?
  private var service: String?
  private var last: ServingStatus?
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in again() }

  init(_ worker: Worker) { self.worker = worker }

  func received(_ message: Span<UInt8>, _ exchange: LocalExchange) throws(RPCError) {
    guard service == nil else { throw StreamRelay.wrongCount(.request, "more than one") }
    service = try HealthMessages.service(message)
  }

  func receivedEnd(_ exchange: LocalExchange) throws(RPCError) {
    guard service != nil else { throw StreamRelay.wrongCount(.request, "none") }
    self.exchange = exchange
    worker.healthWatches[ObjectIdentifier(self)] = self
    update()
  }

  func ended() {
    timer.cancel()
    worker.healthWatches[ObjectIdentifier(self)] = nil
  }

  func update() {
    guard let service else { return }
    let status = worker.servingStatus(of: service) ?? .serviceUnknown
    if status != last { send(status) }
    if worker.isDraining { exchange?.end(with: RPCError(.unavailable, "the gateway is shutting down")) }
  }

  private func again() {
    if let last { send(last) }
  }

  private func send(_ status: ServingStatus) {
    last = status
    exchange?.write { HealthMessages.write(status, into: &$0) }
    timer.schedule(after: worker.timeouts.streamIdle / 2)
  }
}

/// The messages of `grpc.health.v1`.
enum HealthMessages {
  /// The service that a HealthCheckRequest asks for; empty for the server as a whole.
  static func service(_ request: Span<UInt8>) throws(RPCError) -> String {
    var service = ""
    do throws(WireError) {
      var reader = WireReader(request)
      while let tag = try reader.nextTag() {
        if tag.number == 1, tag.type == .lengthDelimited {
          service = try reader.readString()
        } else {
          try reader.skip(tag)
        }
      }
    } catch {
      throw RPCError(.invalidArgument, "the message is no HealthCheckRequest: \(error.kind.rawValue)")
    }
    return service
  }

  /// Appends a HealthCheckResponse.
  static func write(_ status: ServingStatus, into output: inout ByteBuffer) {
    output.append(tag: 1, .varint)
    output.append(varint: status.rawValue)
  }

  /// Appends an entry of a HealthListResponse.
  static func writeEntry(_ service: String, _ status: ServingStatus, into output: inout ByteBuffer) {
    output.append(tag: 1, .lengthDelimited)
    let entry = output.beginLengthDelimited()
    output.append(tag: 1, .lengthDelimited)
    output.append(lengthDelimited: service)
    output.append(tag: 2, .lengthDelimited)
    let response = output.beginLengthDelimited()
    write(status, into: &output)
    output.endLengthDelimited(response)
    output.endLengthDelimited(entry)
  }
}
