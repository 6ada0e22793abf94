import HTTP1
import HTTPModel

/// What is known of the request that a connection reads at present. Pooled by the worker: a connection holds one from
/// the first byte of a request to the end of its answer, so that an idle one keeps no table and no buffer.
final class IncomingRequest {
  // Unchecked, as all of this file that says so (decision 52): parsers call nobody.
  @exclusivity(unchecked) var parser: RequestHeadParser
  @exclusivity(unchecked) var reader: BodyReader
  let head = RequestHead()
  let trailers = FieldBlock()

  init(limits: HeadLimits) {
    parser = RequestHeadParser(limits: limits)
    reader = BodyReader(framing: .none, limits: limits)
  }

  /// Makes it as new, with its memory kept.
  func reset(limits: HeadLimits) {
    parser = RequestHeadParser(limits: limits)
    reader = BodyReader(framing: .none, limits: limits)
    head.removeAll()
    trailers.removeAll()
  }
}
