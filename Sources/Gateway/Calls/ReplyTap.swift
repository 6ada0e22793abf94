import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// Watches an answer that passes through, so that metrics, logs and guards know a failed call for what it is.
///
/// It keeps a bounded piece of a unary error's body, follows a stream's envelopes to their end, or looks at trailers; it
/// changes nothing.
///
/// An object, for most calls have none: in it a call would be a third larger.
final class ReplyTap {
  /// Where an answer says how the call ended.
  private enum Place {
    /// In the status alone.
    case status
    /// Connect: in the status, and in the body of an error.
    case errorBody
    /// In the last envelope.
    case envelopes(EnvelopeDialect)
    /// gRPC: in the trailers, or in a head that is all there is.
    case trailers
  }

  private enum Watch {
    case status
    case errorBody
    case stream
    case trailers
  }

  private static let keptBytes = 8 << 10
  /// Bytes of an end of stream when it is decompressed.
  private static let maximumEnd = 64 << 10

  private let place: Place
  private var watch = Watch.status
  private var status = 0
  /// What a head with a gRPC status says.
  private var inHead: GRPCStatus.Outcome?
  private var kept: [UInt8] = []
  private var stream = StreamTap()

  init(face: any Face) {
    switch face.request {
    case nil: place = .status
    case .grpc: place = .trailers
    case .grpcWeb(_, let isText): place = isText ? .status : .envelopes(.grpcWeb)
    case .connectStreaming: place = .envelopes(.connect)
    case .connectUnary, .connectGet, .unsupportedMediaType, .methodNotAllowed: place = .errorBody
    }
  }

  /// For the answer to a unary call that was written for an upstream.
  init(upstream: UpstreamConfiguration.BackendProtocol) {
    switch upstream {
    case .rest: place = .status
    case .connect: place = .errorBody
    case .grpc: place = .trailers
    case .grpcWeb: place = .envelopes(.grpcWeb)
    }
  }

  func begin(_ head: ResponseHead) {
    status = head.status
    switch place {
    case .status: break
    case .errorBody: watchError(head)
    case .trailers:
      readHead(head)
      watch = .trailers
    case .envelopes(let dialect):
      if dialect == .grpcWeb { readHead(head) }
      if status == 200 {
        watch = .stream
        stream = StreamTap(dialect: dialect, decompress: Self.decompression(head, dialect))
      } else if dialect == .connect {
        watchError(head)
      }
    }
  }

  private func watchError(_ head: ResponseHead) {
    if status != 200, !head.fields.contains(.contentEncoding) { watch = .errorBody }
  }

  private func readHead(_ head: ResponseHead) {
    if head.fields.contains(.grpcStatus) { inHead = GRPCStatus.read(head.fields) }
  }

  /// For the end of a stream whose messages are compressed.
  static func decompression(_ head: ResponseHead, _ dialect: EnvelopeDialect) -> StreamTap.Decompression? {
    guard let index = head.fields.firstIndex(of: dialect == .connect ? .connectContentEncoding : .grpcEncoding),
      let coding = head.fields.withValue(at: index, { ContentCoding(name: $0) }), coding != .identity
    else { return nil }
    return { compressed, output in
      do {
        try Decompressor.decompress(compressed, as: coding, limit: maximumEnd, into: &output)
        return true
      } catch {
        return false
      }
    }
  }

  /// Whether the body's bytes have to be seen.
  var watchesBody: Bool {
    switch watch {
    case .status, .trailers: false
    case .errorBody, .stream: true
    }
  }

  func observe(_ bytes: Span<UInt8>) {
    switch watch {
    case .status, .trailers: break
    case .errorBody:
      let room = Swift.min(bytes.count, Self.keptBytes - kept.count)
      for index in 0..<Swift.max(0, room) { kept.append(bytes[index]) }
    case .stream: stream.observe(bytes)
    }
  }

  /// Whether a stream's last message has passed: its client has all that it waits for, and may leave.
  var hasPassedEnd: Bool { watch == .stream && stream.isComplete }

  /// Whether an end of the protocol may stand behind the bytes that have passed.
  var isStream: Bool { watch == .stream || watch == .trailers }
  var isBetweenMessages: Bool { watch == .stream && stream.isBetweenMessages }

  /// The code that the call ended with, once its answer is whole; nil when it was a success.
  ///
  /// - Parameter trailers: of the HTTP message; nil when they did not come.
  func outcome(_ trailers: FieldBlock? = nil) -> Code? {
    switch watch {
    case .status:
      if let inHead { return Self.code(inHead, status) }
      if case .status = place { return PassThrough.outcome(ofStatus: status) }
      return status == 200 || status == 304 ? nil : Code(inferredFromStatus: status)
    case .errorBody:
      let kept = kept
      return ConnectErrorBody.read(kept.span, status: status).code
    case .trailers:
      let outcome = trailers.map { GRPCStatus.read($0) } ?? .absent
      if case .absent = outcome, let inHead { return Self.code(inHead, status) }
      return Self.code(outcome, status)
    case .stream:
      if let inHead, stream.messages == 0, !stream.isComplete { return Self.code(inHead, status) }
      var stream = stream
      stream.ended()
      return stream.error?.code
    }
  }

  private static func code(_ outcome: GRPCStatus.Outcome, _ status: Int) -> Code? {
    switch outcome {
    case .ok: nil
    case .error(let error): error.code
    case .absent: GRPCStatus.code(ofHTTPStatus: status)
    }
  }
}
