import Bytes
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import REST
import RPC

/// Makes the request to a REST service of the messages of a stream.
///
/// Of a method that takes one message it makes what ``RESTBackend/encodeRequest(_:_:into:)`` makes. Of a client's stream
/// the first message gives the target, and the raw bytes of all of them are the body as they come.
final class RESTStreamRequest: MessageWriter {
  private let backend: RESTBackend
  private let request: UpstreamRequest
  private var messages = 0
  /// Bytes of the target that are the route's prefix.
  private var prefix: Int {
    backend.route.settings.stripPrefix ? 0 : backend.route.settings.prefix.utf8.count
  }

  init(_ backend: RESTBackend, _ request: UpstreamRequest) {
    self.backend = backend
    self.request = request
  }

  func write(_ message: Payload, _ call: Call, into output: inout ByteBuffer) throws(RPCError) {
    messages += 1
    if messages == 1 { return try begin(message, call, into: &output) }
    let wire = try message.converted(to: .proto, call)
    let binding = backend.route.bindings[call.restBinding]
    let type: String?
    do throws(RPCError) {
      type = try wire.withSpan { (wire) throws(RPCError) in
        try request.target.withSpan(prefix..<request.target.count) { (target) throws(RPCError) in
          try binding.encodeFurtherRequest(wire, target: target, into: &output)
        }
      }
    } catch {
      throw located(error)
    }
    // The head waits for the first bytes.
    if let type, !request.fields.contains(.contentType) { request.fields.append(.contentType, type) }
  }

  private func begin(_ message: Payload, _ call: Call, into output: inout ByteBuffer) throws(RPCError) {
    try backend.encodeRequest(call, message, into: request)
    guard backend.route.type.isClientStreaming else {
      if let body = request.body, body.buffer.count > Watermark.high { try call.claim(body.buffer.count) }
      return
    }
    if let body = request.body { output.append(body.buffer) }
    request.body = nil
    request.framing = .chunked
  }

  private func located(_ error: RPCError) -> RPCError {
    var error = error
    error.message = "message \(messages) of the stream: \(error.message)"
    return error
  }

  func finish(_ call: Call) throws(RPCError) {
    guard messages == 0 else { return }
    guard backend.route.type.isClientStreaming else { throw StreamRelay.wrongCount(.request, "no message") }
    // An upload of no bytes.
    var none = ByteBuffer()
    try write(Payload(), call, into: &none)
  }
}
