package import Bytes
import CNghttp2

/// One HTTP/2 connection without its socket: bytes in, events out; actions in, bytes out.
///
/// Framing, HPACK, stream states and windows are libnghttp2's. What a request must be to go on as HTTP/1.1, and what a
/// peer may cost, is checked here. A connection that is at fault ends with GOAWAY: then ``isFinished`` is true when the
/// last bytes have been taken.
@safe
package final class HTTP2Session {
  package enum Role: Sendable {
    case server
    case client
  }

  package let role: Role
  package let settings: HTTP2Settings
  /// Not held by the session: it is to be there for as long, or set to nil before.
  package var delegate: (any HTTP2SessionDelegate)? {
    get { listener }
    set { listener = newValue }
  }
  private unowned var listener: (any HTTP2SessionDelegate)?
  let handle: OpaquePointer
  let workspace: HTTP2Workspace
  var streams = StreamTable()
  /// The stream that was looked up last: mostly the next one, too.
  var latest: HTTP2Stream?
  /// The stream whose field section comes. Not counted, for each field asks for it: the table holds it, and who takes a
  /// stream out of there takes it out of here.
  var inSection: Unmanaged<HTTP2Stream>?

  /// Where frames are written: the output while ``send(into:limit:)`` runs, and else what was made before it.
  var sink = ByteBuffer()
  /// How much is to be written to it.
  var sinkLimit = 0
  /// Frames that go before those of the sink, in pieces as large as it.
  var made = ByteQueue()
  /// Body bytes that go into frames from where they are, behind what waits on their stream.
  var lent: LentBytes?
  /// Streams that ended while frames were made for another: their owners hear of it when nobody is in the middle of
  /// something.
  var untold: [(stream: HTTP2Stream, code: HTTP2ErrorCode)] = []
  /// Counts what ``send(into:limit:)`` was asked for.
  var batch: UInt32 = 1
  /// Streams whose reset is this side's own doing and is not sent yet.
  var ownResets: Set<Int32> = []
  private(set) var ownFault: HTTP2Fault?
  /// Why the connection ended, once it is our doing.
  package var failure: HTTP2Fault? { ownFault }
  /// GOAWAY is to be written by hand: the library's session is not to be used after an error.
  private var owesGoAway = false
  private var isBroken = false
  var isRunning = false
  var now: UInt64 = 0
  var drained: [HTTP2Stream] = []

  var isSectionOpen = false
  /// Whether a field section has begun that is not whole: its frames may come slowly.
  package var isInsideSection: Bool { isSectionOpen }

  // Counted against the bounds.
  var resets = FloodMeter()
  var settingsFrames = FloodMeter()
  var pings = FloodMeter()
  var emptyFrames = FloodMeter()
  var windowUpdates = FloodMeter()
  var continuations = 0
  /// Whether this side has said that it takes no more.
  package private(set) var hasSaidGoAway = false
  /// Whether the peer has said so.
  package var peerGoesAway = false

  /// - Returns: nil when the library has no memory.
  package init?(role: Role, settings: HTTP2Settings, workspace: HTTP2Workspace) {
    guard let callbacks = unsafe workspace.callbacks else { return nil }
    var made: OpaquePointer?
    var options: OpaquePointer?
    guard unsafe nghttp2_option_new(&options) == 0 else { return nil }
    defer { unsafe nghttp2_option_del(options) }
    unsafe nghttp2_option_set_no_auto_window_update(options, 1)
    unsafe nghttp2_option_set_max_reserved_remote_streams(options, 0)
    unsafe nghttp2_option_set_max_outbound_ack(options, settings.bounds.acknowledgements)
    // Counted here, too: the library takes each read of a part of a frame's nine bytes of head for a frame.
    unsafe nghttp2_option_set_max_continuations(options, (settings.bounds.continuations &+ 1) &* 9)
    // Counted here instead, by a clock that is ours.
    unsafe nghttp2_option_set_stream_reset_rate_limit(options, .max, .max)
    let result =
      role == .server
      ? unsafe nghttp2_session_server_new3(&made, callbacks, nil, options, workspace.memory.table)
      : unsafe nghttp2_session_client_new3(&made, callbacks, nil, options, workspace.memory.table)
    guard result == 0, let handle = unsafe made else { return nil }
    self.role = role
    self.settings = settings
    self.workspace = workspace
    unsafe self.handle = unsafe handle
    unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
    submitSettings()
  }

  deinit {
    unsafe nghttp2_session_del(handle)
  }

  private func submitSettings() {
    var entries = [
      nghttp2_settings_entry(
        settings_id: CInt(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(clamping: settings.streamWindow)
      ),
      nghttp2_settings_entry(
        settings_id: CInt(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
        value: UInt32(clamping: settings.maximumFieldBytes)),
      nghttp2_settings_entry(
        settings_id: CInt(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
        value: role == .server ? UInt32(clamping: settings.maximumConcurrentStreams) : 0),
    ]
    if role == .client {
      entries.append(
        nghttp2_settings_entry(settings_id: CInt(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0))
    }
    _ = unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    _ = unsafe nghttp2_session_set_local_window_size(
      handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: settings.connectionWindow))
  }

  // MARK: Bytes

  /// Handles what the peer sent. Consumes all of it.
  ///
  /// - Parameter now: nanoseconds of a clock that does not go back, for the bounds.
  package func receive(_ input: inout ByteBuffer, now: UInt64) {
    guard !isRunning, !isBroken, !input.isEmpty else {
      input.removeAll()
      return
    }
    self.now = now
    tellClosed()
    isRunning = true
    let result = unsafe input.withUnsafeBytes { bytes in
      unsafe nghttp2_session_mem_recv(handle, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
    }
    input.removeAll()
    isRunning = false
    if result < 0 { broke(Int(result)) }
    withExtendedLifetime(self) {}
  }

  /// Appends frames to the output until it holds `limit` bytes or nothing is left to send.
  package func send(into output: inout ByteBuffer, limit: Int) {
    guard !isRunning else { return }
    batch &+= 1
    tellClosed()
    takeMade(into: &output)
    // Nothing may overtake what was made before it.
    if !hasMade {
      swap(&sink, &output)
      makeFrames(limit: limit)
      if owesGoAway {
        owesGoAway = false
        writeGoAway()
      }
      swap(&sink, &output)
    }
    tellDrained()
    withExtendedLifetime(self) {}
  }

  /// Lets the library write to the sink until that holds `limit` bytes or nothing is left to send.
  func makeFrames(limit: Int) {
    isRunning = true
    sinkLimit = limit
    while !isBroken, sink.count < limit {
      var bytes: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(handle, &bytes)
      if count < 0 {
        broke(Int(count))
      } else if count == 0 {
        break
      } else if let bytes = unsafe bytes {
        unsafe sink.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      }
    }
    isRunning = false
  }

  /// Whether ``send(into:limit:)`` has something to write.
  package var wantsToSend: Bool {
    owesGoAway || hasMade || !untold.isEmpty || !isBroken && (unsafe nghttp2_session_want_write(handle)) != 0
  }

  /// Whether the connection is to be closed once all output is written.
  package var isFinished: Bool {
    if hasMade { return false }
    if isBroken { return !owesGoAway }
    return unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  /// The stream of a number; nil when there is none, or none any more.
  func openStream(_ id: Int32) -> HTTP2Stream? {
    if let latest, latest.number == id, !latest.isOver { return latest }
    guard let found = streams.find(id) else { return nil }
    latest = found
    return found
  }

  /// Streams that are not over.
  package var openStreams: Int { streams.count }

  // MARK: Ending

  /// Ends the connection because of what the peer did. The library's session is not touched again.
  func fail(_ kind: HTTP2Fault.Kind) {
    guard ownFault == nil else { return }
    let fault = HTTP2Fault(kind)
    ownFault = fault
    isBroken = true
    owesGoAway = true
    delegate?.session(self, fault: fault)
  }

  private func broke(_ code: Int) {
    // A callback has said why already, or else the library does.
    switch CInt(truncatingIfNeeded: code) {
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue: fail(.continuationFlood)
    case NGHTTP2_ERR_FLOODED.rawValue: fail(.acknowledgementFlood)
    default: fail(.malformedFrames)
    }
  }

  /// GOAWAY by hand (RFC 9113 section 6.8).
  private func writeGoAway() {
    let last = UInt32(clamping: unsafe nghttp2_session_get_last_proc_stream_id(handle))
    let code = ownFault?.code ?? .internalError
    sink.append([0, 0, 8, UInt8(NGHTTP2_GOAWAY.rawValue), 0, 0, 0, 0, 0])
    for word in [last, code.rawValue] {
      for shift in [24, 16, 8, 0] as [UInt32] { sink.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
  }

  /// Takes no more streams from now on and says so; those that run go on.
  package func goAway(_ code: HTTP2ErrorCode = .noError) {
    guard !isBroken, !hasSaidGoAway else { return }
    hasSaidGoAway = true
    let last = unsafe nghttp2_session_get_last_proc_stream_id(handle)
    _ = unsafe nghttp2_submit_goaway(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, nil, 0)
  }

  private func tellDrained() {
    guard !drained.isEmpty else { return }
    var waiting: [HTTP2Stream] = []
    swap(&waiting, &drained)
    for index in waiting.indices {
      let stream = waiting[index]
      stream.isListedAsDrained = false
      if unsafe stream.output.isEmpty { stream.holder?.streamDrained(stream) }
    }
    waiting.removeAll(keepingCapacity: true)
    workspace.spareList = waiting
  }
}
