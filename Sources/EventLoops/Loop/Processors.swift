import CLinux
import Glibc

/// The processors that this process may use.
enum Processors {
  /// At least 1: the affinity mask counts, since containers set it.
  static var available: Int {
    max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
  }
}
