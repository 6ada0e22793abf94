import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import REST
import RPC

/// Raw bodies towards an RPC upstream, without being gathered: a body whose length is known is the end of a message
/// whose beginning can be written at once.
extension Call {
  /// Raw bodies up to this many bytes are gathered: they can be sent once more, and read in any order.
  var rawThreshold: Int { Swift.min(Watermark.high, worker.limits.message) }

  func exceedsRawLimit(_ length: Int, _ routeLimit: Int?) -> Bool {
    if let routeLimit { return length > routeLimit }
    return worker.limits.raw > 0 && length > worker.limits.raw
  }

  /// Begins the attempt, if the body can follow as it comes.
  func beginRawUpload(to upstream: Int) throws(RPCError) -> Bool {
    guard case .length(let length) = requestFraming, length > rawThreshold, let number = face.binding,
      let binding = route?.plan.bindings[number], binding.readsRaw, let backend, backend.carriesBareMessages,
      try requestCoding() == .identity
    else { return false }
    let own = route?.plan.settings.limits.request
    if exceedsRawLimit(length, own) { throw tooLarge(limit: own ?? worker.limits.raw) }
    try AnswerNegotiation.check(self, binding)
    let beginning = Payload()
    try RESTFace.withRequest(self) { (path, query, type) throws(RPCError) in
      try binding.beginRawRequest(
        path: path, captures: captures, query: query, contentType: type, length: length, into: &beginning.buffer)
    }
    // Any number may stand in a head.
    let (total, overflow) = beginning.buffer.count.addingReportingOverflow(length)
    guard !overflow else { throw tooLarge(limit: .max) }
    let request = worker.takeRequest()
    try backend.encodeRequest(self, beginning, into: request)
    request.framing = .length(total)
    request.body = nil
    isUploading = true
    state = .asked
    start(request, upstream: upstream)
    guard state == .asked else { return true }
    attempt?.send(&beginning.buffer, beginning.buffer.count)
    client?.startReceiving()
    return true
  }

  /// The next bytes of the body.
  func upload(_ buffer: inout ByteBuffer, _ count: Int) {
    guard let attempt else { return buffer.consume(count) }
    attempt.send(&buffer, count)
    if attempt.isCongested { client?.pauseReceiving() }
  }
}
