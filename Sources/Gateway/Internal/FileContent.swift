import Glibc

/// Reads small files whole, when a configuration is compiled.
enum FileContent {
  struct Fault: Error {
    var reason: String
  }

  static func read(_ path: String, limit: Int) -> Result<[UInt8], Fault> {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return .failure(Fault(reason: reason(errno))) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      var failure: CInt = 0
      let more = [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, count in
        let got = Glibc.read(descriptor, room.baseAddress, room.count)
        failure = got < 0 ? errno : 0
        count = Swift.max(0, got)
      }
      if failure == EINTR { continue }
      if failure != 0 { return .failure(Fault(reason: reason(failure))) }
      if more.isEmpty { return .success(bytes) }
      bytes += more
    }
    return .failure(Fault(reason: "it is longer than \(limit) bytes"))
  }

  private static func reason(_ number: CInt) -> String { String(cString: strerror(number)).lowercased() }
}
