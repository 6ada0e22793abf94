import RPC

/// What messages that were changed take of `limits.buffers` while they wait for a side that does not read.
///
/// A flow stops when its reader does, but only behind a message that is whole, and that may have megabytes. Without
/// this each stream of a caller who reads nothing would hold one, whatever all calls together may hold. What goes on as
/// it comes waits uncounted, as what passes through does: it is stopped in the middle. Counted are messages of more than
/// 256 KiB (``Watermark/high``).
struct WaitingMessages {
  /// Bytes of the budget that are taken.
  private var bytes = 0

  /// Before so many bytes are sent.
  ///
  /// - Throws: `unavailable` when there is no room for them.
  mutating func add(_ count: Int, _ call: Call) throws(RPCError) {
    guard count > Watermark.high else { return }
    try call.claim(count)
    bytes += count
  }

  /// After it, and when the reader takes more.
  mutating func settle(isCongested: Bool, _ call: Call) {
    guard bytes > 0, !isCongested else { return }
    call.release(bytes)
    bytes = 0
  }

  /// The call is over, and its caller may have some of its last messages still to take.
  mutating func pass(to client: (any ClientStream)?, _ call: Call) {
    guard bytes > 0, let client else { return }
    call.reserved -= bytes
    client.takeOver(reserved: bytes)
    bytes = 0
  }
}
