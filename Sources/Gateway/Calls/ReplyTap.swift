import Bytes
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
    } else if isConnect, status != 200, !head.fields.contains(.contentEncoding) {
      watch = .errorBody
    }
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

  /// The code that the call ended with; nil when it was a success.
  func outcome() -> Code? {
    switch watch {
    case .status: isConnect && status != 200 && status != 304 ? Code(inferredFromStatus: status) : PassThrough.outcome(ofStatus: status)
    case .errorBody: ConnectErrorBody.read(kept.span, status: status).code
    case .stream: stream.error?.code
    }
  }
}
