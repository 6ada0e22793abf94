import Glibc

extension SocketAddress {
  var family: CInt { isIPv6 ? AF_INET6 : AF_INET }

  /// Calls the body with the address as the kernel takes it.
  func withKernelForm<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    switch address {
    case .v4(let four):
      var kernel = sockaddr_in()
      kernel.sin_family = sa_family_t(AF_INET)
      kernel.sin_port = port.bigEndian
      kernel.sin_addr.s_addr = four
      return withUnsafePointer(to: &kernel) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    case .v6(let high, let low, let scope):
      var kernel = sockaddr_in6()
      kernel.sin6_family = sa_family_t(AF_INET6)
      kernel.sin6_port = port.bigEndian
      kernel.sin6_scope_id = scope
      withUnsafeMutableBytes(of: &kernel.sin6_addr) { bytes in
        bytes.storeBytes(of: high, as: UInt64.self)
        bytes.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
      }
      return withUnsafePointer(to: &kernel) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
  }

  /// An address as the kernel gives it; nil for other families, or too few bytes.
  init?(kernelForm bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch CInt(bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET:
      guard bytes.count >= MemoryLayout<sockaddr_in>.size else { return nil }
      let kernel = bytes.loadUnaligned(as: sockaddr_in.self)
      self.init(.v4(kernel.sin_addr.s_addr), port: UInt16(bigEndian: kernel.sin_port))
    case AF_INET6:
      guard bytes.count >= MemoryLayout<sockaddr_in6>.size else { return nil }
      let kernel = bytes.loadUnaligned(as: sockaddr_in6.self)
      self.init(Self.host(kernel.sin6_addr, scope: kernel.sin6_scope_id), port: UInt16(bigEndian: kernel.sin6_port))
    default:
      return nil
    }
  }

  /// Has a system call fill in an address, and reads it. `call` gets the room and its length, and returns 0 or more
  /// when it succeeded.
  ///
  /// - Returns: what the call returned, or the negated errno, and the address.
  static func filled(
    by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> (result: Int, address: SocketAddress?) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        uninterrupted {
          length = socklen_t(MemoryLayout<sockaddr_storage>.size)
          return Int(call(address, &length))
        }
      }
    }
    guard result >= 0 else { return (result, nil) }
    let address = withUnsafeBytes(of: &storage) { bytes in
      SocketAddress(kernelForm: UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(length))))
    }
    return (result, address)
  }
}
