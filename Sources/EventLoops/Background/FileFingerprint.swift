import Glibc

/// What tells one state of a file from another: which file its name leads to, and when that was changed.
struct FileFingerprint: Hashable {
  private var device: UInt64 = 0
  private var inode: UInt64 = 0
  private var size: Int64 = 0
  private var modified = WallTime(seconds: 0)
  private var changed = WallTime(seconds: 0)

  /// Follows links; a file that cannot be looked at has the fingerprint of a missing one.
  init(path: String) {
    var status = stat()
    guard uninterrupted({ Int(stat(path, &status)) }) == 0 else { return }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = Self.time(status.st_mtim)
    changed = Self.time(status.st_ctim)
  }

  private static func time(_ time: timespec) -> WallTime {
    WallTime(seconds: Int64(time.tv_sec), nanoseconds: Int32(truncatingIfNeeded: time.tv_nsec))
  }
}
