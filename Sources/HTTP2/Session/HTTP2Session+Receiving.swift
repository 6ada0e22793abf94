package import Bytes
import CNghttp2
import HTTPModel

/// Called by the library while it reads frames.
extension HTTP2Session {
  /// A frame's head has come: what costs more here than there is counted.
  func began(_ head: nghttp2_frame_hd) {
    let type = UInt32(head.type)
    isSectionOpen = false
    let flags = UInt32(head.flags)
    switch type {
    case NGHTTP2_DATA.rawValue:
      guard head.length == 0, flags & NGHTTP2_FLAG_END_STREAM.rawValue == 0 else { return }
      if !emptyFrames.admit(settings.bounds.emptyFrames, now: now) { fail(.emptyFrameFlood) }
    case NGHTTP2_HEADERS.rawValue:
      continuations = 0
      isSectionOpen = flags & NGHTTP2_FLAG_END_HEADERS.rawValue == 0
    case NGHTTP2_CONTINUATION.rawValue:
      continuations &+= 1
      isSectionOpen = flags & NGHTTP2_FLAG_END_HEADERS.rawValue == 0
      if continuations > settings.bounds.continuations { fail(.continuationFlood) }
    case NGHTTP2_RST_STREAM.rawValue:
      if role == .server, !resets.admit(settings.bounds.resets, now: now) { fail(.resetFlood) }
    case NGHTTP2_SETTINGS.rawValue:
      guard flags & NGHTTP2_FLAG_ACK.rawValue == 0 else { return }
      if !settingsFrames.admit(settings.bounds.settings, now: now) { fail(.settingsFlood) }
    case NGHTTP2_PING.rawValue:
      guard flags & NGHTTP2_FLAG_ACK.rawValue == 0 else { return }
      if !pings.admit(settings.bounds.pings, now: now) { fail(.pingFlood) }
    case NGHTTP2_WINDOW_UPDATE.rawValue:
      if !windowUpdates.admit(settings.bounds.windowUpdates, now: now) { fail(.windowUpdateFlood) }
    case NGHTTP2_GOAWAY.rawValue: break
    default:
      if !emptyFrames.admit(settings.bounds.emptyFrames, now: now) { fail(.emptyFrameFlood) }
    }
  }

  func sectionBegins(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = unsafe frame.pointee.hd
    unsafe inSection = nil
    guard UInt32(head.type) == NGHTTP2_HEADERS.rawValue else { return }
    let stream: HTTP2Stream
    if let known = openStream(head.stream_id) {
      stream = known
      stream.section = role == .client && !known.hasFinalHead ? .response : .trailers
      if stream.section == .response { stream.response.removeAll() }
    } else {
      guard role == .server, unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
      stream = workspace.takeStream()
      stream.number = head.stream_id
      stream.section = .request
      stream.request.version = .http2
      streams.insert(stream)
    }
    stream.fieldBytes = 0
    stream.fieldCount = 0
    unsafe inSection = Unmanaged.passUnretained(stream)
  }

  func field(_ id: Int32, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    unsafe inSection?._withUnsafeGuaranteedRef { stream in
      if stream.number == id { unsafe field(of: stream, name, value) }
    }
  }

  private func field(of stream: HTTP2Stream, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let bytes = stream.fieldBytes &+ name.count &+ value.count &+ 32
    let count = stream.fieldCount &+ 1
    stream.fieldBytes = bytes
    stream.fieldCount = count
    let factor = settings.bounds.headerBombFactor
    if bytes > settings.maximumFieldBytes &* factor || count > settings.maximumFields &* factor {
      return fail(.headerBomb)
    }
    // What is answered is read on: interceptors look at it.
    guard stream.fault == nil || stream.fault == .targetTooLong else { return }
    if bytes > settings.maximumFieldBytes {
      stream.fault = .headTooLarge
    } else if count > settings.maximumFields {
      stream.fault = .tooManyFields
    } else {
      let name = unsafe Span<UInt8>(_unsafeBytes: name)
      let value = unsafe Span<UInt8>(_unsafeBytes: value)
      stream.take(name, value, maximumTarget: settings.maximumTarget)
    }
  }

  /// The library would leave such a field out; nothing of the message is to be used instead.
  func invalidField(_ id: Int32, _ name: UnsafeRawBufferPointer) {
    guard let stream = openStream(id), stream.fault == nil else { return }
    let isName = HTTP2Stream.isLowerCaseToken(unsafe Span<UInt8>(_unsafeBytes: name))
    stream.fault = isName ? .invalidFieldValue : .invalidFieldName
  }

  func data(_ id: Int32, _ bytes: UnsafeRawBufferPointer) {
    // Connection credit returns at once: a stream that nobody reads must not stop the others.
    _ = unsafe nghttp2_session_consume_connection(handle, bytes.count)
    guard let stream = openStream(id), stream.fault == nil else { return }
    stream.receivedBytes &+= bytes.count
    if let length = stream.announcedLength, stream.receivedBytes > length { return refuse(stream, .lengthMismatch) }
    guard let owner = stream.holder else { return }
    // The library resets such a stream, too, but gives what had come until then.
    guard unsafe stream.input.count &+ bytes.count <= Swift.max(settings.streamWindow, Self.initialWindow) else {
      return refuse(stream, .streamFlowControl)
    }
    unsafe ByteBuffer.lending(bytes) { owner.stream(stream, received: &$0) }
  }

  /// Body bytes that nobody can use now wait in the stream's input.
  package func keep(_ bytes: inout ByteBuffer, for stream: HTTP2Stream) {
    unsafe stream.input.append(bytes.span, from: workspace.buffers)
    bytes.removeAll()
  }

  /// Body bytes that came are not wanted any more.
  package func dropInput(of stream: HTTP2Stream) { unsafe stream.input.removeAll(givingTo: workspace.buffers) }

  /// Body bytes that wait to be sent are not wanted any more: the connection is gone.
  package func dropOutput(of stream: HTTP2Stream) { unsafe stream.output.removeAll(givingTo: workspace.buffers) }

  /// Before the peer has our settings (RFC 9113 section 6.9.2).
  private static let initialWindow = 65_535

  func received(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = unsafe frame.pointee.hd
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue:
      guard let stream = openStream(head.stream_id) else { return }
      sectionEnds(stream, endsStream: UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0)
    case NGHTTP2_DATA.rawValue:
      guard UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let stream = openStream(head.stream_id)
      else { return }
      ended(stream)
    case NGHTTP2_SETTINGS.rawValue:
      if UInt32(head.flags) & NGHTTP2_FLAG_ACK.rawValue == 0 { delegate?.sessionSettingsChanged(self) }
    case NGHTTP2_GOAWAY.rawValue:
      peerGoesAway = true
      let last = unsafe frame.pointee.goaway.last_stream_id
      delegate?.sessionGoesAway(self, HTTP2ErrorCode(rawValue: unsafe frame.pointee.goaway.error_code))
      guard role == .client else { return }
      // Those that the library has not sent yet, too.
      for id in streams.ids where id > last { closed(id, .refusedStream) }
    default: break
    }
  }

  private func sectionEnds(_ stream: HTTP2Stream, endsStream: Bool) {
    stream.finishSection()
    if let fault = stream.fault {
      refuse(stream, fault)
      return
    }
    if stream.section != .trailers {
      if endsStream { stream.isInputWhole = lengthIsRight(stream) }
      if endsStream, !stream.isInputWhole { return refuse(stream, .lengthMismatch) }
    }
    switch stream.section {
    case .request: delegate?.session(self, opened: stream)
    case .response: stream.holder?.streamHead(stream)
    case .trailers: break
    }
    guard endsStream else { return }
    if stream.section == .trailers { ended(stream) } else if role == .client { stream.holder?.streamEnded(stream) }
  }

  /// A head alone may announce a length that no body has: the answer to a HEAD, or 304.
  private func lengthIsRight(_ stream: HTTP2Stream) -> Bool {
    role == .client || stream.announcedLength ?? 0 == 0
  }

  private func ended(_ stream: HTTP2Stream) {
    guard stream.fault == nil, !stream.isInputWhole else { return }
    if let length = stream.announcedLength, stream.receivedBytes != length { return refuse(stream, .lengthMismatch) }
    stream.isInputWhole = true
    stream.holder?.streamEnded(stream)
  }

  /// The message is not used: answered with a status where there is one for it, else reset.
  private func refuse(_ stream: HTTP2Stream, _ kind: HTTP2Fault.Kind) {
    stream.fault = kind
    let fault = HTTP2Fault(kind)
    delegate?.session(self, fault: fault)
    if role == .server, stream.section == .request, fault.status != nil, stream.holder == nil {
      delegate?.session(self, refused: stream, fault)
    } else {
      reset(stream, fault.code)
    }
  }

  func closed(_ id: Int32, _ code: HTTP2ErrorCode) {
    guard let stream = streams.remove(id) else { return }
    stream.isOver = true
    if latest === stream { latest = nil }
    if unsafe inSection?.toOpaque() == Unmanaged.passUnretained(stream).toOpaque() { unsafe inSection = nil }
    dropOutput(of: stream)
    if lent == nil { tell(stream, code) } else { untold.append((stream, code)) }
  }

  private func tell(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    let owner = stream.holder
    stream.holder = nil
    owner?.streamClosed(stream, code)
    delegate?.sessionStreamClosed(self)
    workspace.give(stream)
  }

  func tellClosed() {
    guard !untold.isEmpty else { return }
    let closed = untold
    untold.removeAll(keepingCapacity: true)
    for (stream, code) in closed { tell(stream, code) }
  }
}
