import CProtoPeer
import Glibc

/// Processor time and allocations of this thread.
struct Stopwatch {
  private let began = Self.now()
  private let allocated = proto_peer_allocations()

  /// Nanoseconds since it was made.
  var nanoseconds: Double { Double(Self.now() - began) }
  /// Allocations since it was made.
  var allocations: Int { Int(proto_peer_allocations() - allocated) }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
