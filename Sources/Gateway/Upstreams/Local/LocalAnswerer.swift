import Bytes
import RPC

/// Answers one call of a service of the gateway's own, in messages of protobuf.
protocol LocalAnswerer: AnyObject {
  /// A message of the request.
  func received(_ message: Span<UInt8>, _ exchange: LocalExchange) throws(RPCError)
  /// The request is whole.
  func receivedEnd(_ exchange: LocalExchange) throws(RPCError)
  /// The call is over, whoever ended it.
  func ended()
}

extension LocalAnswerer {
  func ended() {}
}

/// A method with one message each way.
final class LocalUnary: LocalAnswerer {
  private var request: ByteBuffer?
  private let answer: (Span<UInt8>, inout ByteBuffer) throws(RPCError) -> Void

  /// - Parameter answer: reads the one message, and appends the other.
  init(_ answer: @escaping (Span<UInt8>, inout ByteBuffer) throws(RPCError) -> Void) { self.answer = answer }

  func received(_ message: Span<UInt8>, _ exchange: LocalExchange) throws(RPCError) {
    guard request == nil else { throw StreamRelay.wrongCount(.request, "more than one") }
    var kept = ByteBuffer(minimumCapacity: message.count)
    kept.append(message)
    request = consume kept
  }

  func receivedEnd(_ exchange: LocalExchange) throws(RPCError) {
    guard let request = request.take() else { throw StreamRelay.wrongCount(.request, "none") }
    var reply = ByteBuffer()
    try answer(request.span, &reply)
    exchange.write { $0.append(reply) }
    exchange.end(with: nil)
  }
}
