import CLinux
import Glibc

/// What starting and reloading have used and serving does not: the code of the configuration's and the schema's readers,
/// and what they had on the heap.
enum StartupMemory {
  static let longest = 4 << 20

  /// Gives it back to the system. The code comes back from the system's cache, sixteen pages at a time, as it runs.
  ///
  /// It is only forgotten what is as in the file: a debugger's breakpoints, and what the linker has filled in, stay.
  static func release() {
    _ = malloc_trim(0)
    // Without /proc nothing is given back, which harms nobody.
    guard case .success(let bytes) = FileContent.read("/proc/self/smaps", limit: longest) else { return }
    for area in MappedArea.code(MappedArea.areas(String(decoding: bytes, as: UTF8.self))) {
      guard let start = UnsafeMutableRawPointer(bitPattern: area.start) else { continue }
      // Where it does not succeed the pages stay.
      _ = madvise(start, Int(area.end - area.start), MADV_DONTNEED)
    }
  }
}
