import Bytes
import Compression
import HTTPModel
import RPC

/// Watches an answer that passes through, so that metrics, logs and guards know a failed call for what it is.
///
/// It keeps a bounded piece of a unary error's body, or follows a stream's envelopes to their end; it changes nothing.
struct ReplyTap {
  private enum Watch {
    case status
    case errorBody
    case stream
  }

  private static let keptBytes = 8 << 10
  /// Bytes of an end of stream when it is decompressed.
  private static let maximumEnd = 64 << 10

  private let isConnect: Bool
  private let isStream: Bool
  private var watch = Watch.status
  private var status = 0
  private var kept: [UInt8] = []
  private var stream = StreamTap()

  init(face: any Face) {
    isConnect = face.kind == .connect
    if case .connectStreaming = face.request { isStream = true } else { isStream = false }
  }

  mutating func begin(_ head: ResponseHead) {
    status = head.status
    if isStream, status == 200 {
      watch = .stream
      stream = StreamTap(decompress: Self.decompression(head))
    } else if isConnect, status != 200, !head.fields.contains(.contentEncoding) {
      watch = .errorBody
    }
  }

  /// For the end of a stream whose messages are compressed.
  private static func decompression(_ head: ResponseHead) -> StreamTap.Decompression? {
    guard let index = head.fields.firstIndex(of: .connectContentEncoding),
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
    if case .status = watch { false } else { true }
  }

  mutating func observe(_ bytes: Span<UInt8>) {
    switch watch {
    case .status: break
    case .errorBody:
      let room = Swift.min(bytes.count, Self.keptBytes - kept.count)
      for index in 0..<Swift.max(0, room) { kept.append(bytes[index]) }
    case .stream: stream.observe(bytes)
    }
  }

  /// Whether a stream's last message has passed: its client has all that it waits for, and may leave.
  var hasPassedEnd: Bool { watch == .stream && stream.isComplete }

  /// The code that the call ended with, once its answer is whole; nil when it was a success.
  func outcome() -> Code? {
    switch watch {
    case .status:
      if isConnect, status != 200, status != 304 { return Code(inferredFromStatus: status) }
      return PassThrough.outcome(ofStatus: status)
    case .errorBody: return ConnectErrorBody.read(kept.span, status: status).code
    case .stream:
      var stream = stream
      stream.ended()
      return stream.error?.code
    }
  }
}
