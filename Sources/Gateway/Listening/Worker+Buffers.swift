import Bytes
import EventLoops
import HTTPModel

/// The loop's read buffers: attached while there is something to read, detached when it has been handled.
extension Worker {
  /// How much room a read has at least when the buffer holds something already.
  var readRoom: Int { 16 << 10 }

  /// A read that brings this much is followed by one into a big buffer: it would fill a usual one, but for a head.
  var bulkThreshold: Int { 48 << 10 }

  /// Attaches a buffer of 64 KiB while there is something to read or much to write.
  func lendBuffer(to buffer: inout ByteBuffer) {
    guard buffer.capacity == 0 else { return }
    buffer = loop.buffers.take()
  }

  /// Attaches a buffer for this many bytes, and more of them, to be written.
  func lendBuffer(to buffer: inout ByteBuffer, for bytes: Int) {
    guard buffer.capacity == 0 else { return }
    buffer = loop.buffers.take(for: bytes)
  }

  /// Attaches a buffer of 1 MiB: for a body that comes in bulk. A megabyte then costs two system
  /// calls instead of forty, and a quarter less CPU time.
  func lendBulkBuffer(to buffer: inout ByteBuffer) {
    guard buffer.capacity == 0 else { return }
    buffer = loop.buffers.takeBulk()
  }

  /// Pipes that are kept for the next long bodies, each of two descriptors.
  private static let maximumSparePipes = 4

  /// Nil when the process has no descriptors left, or enough pipes are in use: then bytes go the usual way.
  func takePipe() -> SplicePipe? {
    guard pipesLent < Self.maximumPipes else { return nil }
    if let spare = sparePipes.popLast() {
      pipesLent += 1
      return spare
    }
    guard let pipe = try? SplicePipe(), shared.descriptors.allows(upstream: pipe.descriptor) else { return nil }
    pipesLent += 1
    return pipe
  }

  /// Pipes in use at the same time: so many megabytes of the kernel's memory can slow clients of this loop hold in them.
  private static let maximumPipes = 64

  /// Takes a pipe back; one that is not empty is closed.
  func give(_ pipe: SplicePipe) {
    pipesLent -= 1
    if pipe.isEmpty, sparePipes.count < Self.maximumSparePipes { sparePipes.append(pipe) }
  }

  /// Requests of each kind, and payloads, that are kept for the next ones.
  private static let maximumSpare = 64

  func takeIncoming() -> IncomingRequest { spareIncoming.popLast() ?? IncomingRequest(limits: headLimits) }

  func give(_ incoming: IncomingRequest) {
    guard spareIncoming.count < Self.maximumSpare else { return }
    incoming.reset(limits: headLimits)
    spareIncoming.append(incoming)
  }

  /// A request as new, that comes back to the loop when its attempt is gone.
  func takeRequest() -> UpstreamRequest {
    let request = spareRequests.popLast() ?? UpstreamRequest()
    request.lender = self
    return request
  }

  /// Takes a request back that nobody else has.
  func give(_ request: UpstreamRequest) {
    give(&request.body)
    guard request.reset(), spareRequests.count < Self.maximumSpare else { return }
    spareRequests.append(request)
  }

  /// A payload as new, see ``give(_:)``.
  func takePayload() -> Payload { sparePayloads.popLast() ?? Payload() }

  func give(_ payload: consuming Payload) {
    var given: Payload? = payload
    give(&given)
  }

  /// Takes a payload back, unless somebody else has it.
  func give(_ payload: inout Payload?) {
    guard payload != nil, isKnownUniquelyReferenced(&payload), sparePayloads.count < Self.maximumSpare,
      let given = payload.take()
    else { return }
    given.reset()
    sparePayloads.append(given)
  }

  /// Field sections that are kept for the next answers, and the bytes of the greatest of them.
  private static let maximumSpareFields = 64
  private static let maximumFieldBytes = 4 << 10

  func takeFields() -> FieldBlock { spareFields.popLast() ?? FieldBlock() }

  /// Takes a field section back, unless somebody else reads it.
  func give(_ fields: inout FieldBlock?) {
    guard fields != nil else { return }
    let isOurs = isKnownUniquelyReferenced(&fields)
    if let given = fields.take(), isOurs { give(given) }
  }

  /// Takes a field section back that nobody else reads.
  func give(_ fields: FieldBlock) {
    guard spareFields.count < Self.maximumSpareFields, fields.capacity <= Self.maximumFieldBytes else { return }
    fields.removeAll()
    spareFields.append(fields)
  }

  /// Takes the memory of an empty buffer back.
  func recycle(_ buffer: inout ByteBuffer) {
    guard buffer.isEmpty, buffer.capacity > 0 else { return }
    discard(&buffer)
  }

  /// Takes the memory of a buffer back, whatever is in it.
  func discard(_ buffer: inout ByteBuffer) { loop.buffers.discard(&buffer) }

  func give(_ buffer: consuming ByteBuffer) { loop.buffers.give(buffer) }
}
