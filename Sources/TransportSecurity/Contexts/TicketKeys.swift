import COpenSSL
import Glibc
import Synchronization

/// The keys of session tickets (RFC 5077 section 4), of all listeners of a process.
///
/// A ticket is sealed with the newest key and opened with that or the one before, so that no key is good for more than
/// two periods.
package final class TicketKeys: Sendable {
  struct Key {
    var name: [UInt8]
    var cipher: [UInt8]
    var mac: [UInt8]

    /// Nil when there is no randomness.
    static func random() -> Key? {
      var bytes = [UInt8](repeating: 0, count: 16 + 32 + 32)
      guard RAND_bytes(&bytes, CInt(bytes.count)) == 1 else { return nil }
      return Key(name: Array(bytes[0..<16]), cipher: Array(bytes[16..<48]), mac: Array(bytes[48..<80]))
    }
  }

  private struct State {
    /// The newest first, at most two.
    var keys: [Key] = []
    var made = 0
  }

  private let state = Mutex(State())
  private let period: Int
  private let clock: @Sendable () -> Int

  /// - Parameters:
  ///   - period: seconds after which a new key is made.
  ///   - clock: seconds of any steady clock.
  package init(
    period: Int = 12 * 3600,
    clock: @escaping @Sendable () -> Int = {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
      return time.tv_sec
    }
  ) {
    self.period = period
    self.clock = clock
  }

  /// The key to seal with.
  func current() -> Key? {
    let now = clock()
    return state.withLock { state in
      rotate(&state, now)
      return state.keys.first
    }
  }

  /// The key of a ticket, and whether it is the newest.
  func key(named name: [UInt8]) -> (key: Key, isCurrent: Bool)? {
    let now = clock()
    return state.withLock { state in
      rotate(&state, now)
      guard let index = state.keys.firstIndex(where: { $0.name == name }) else { return nil }
      return (state.keys[index], index == 0)
    }
  }

  private func rotate(_ state: inout State, _ now: Int) {
    if !state.keys.isEmpty, now < state.made + period { return }
    // After a long rest both are too old.
    if now >= state.made + 2 * period { state.keys = [] }
    guard let fresh = Key.random() else { return }
    state.keys = [fresh] + state.keys.prefix(1)
    state.made = now
  }

  // MARK: Callback

  static func install(on context: OpaquePointer) {
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context) { session, name, iv, cipher, mac, isSealing in
      guard let session, let name, let iv, let cipher, let mac, let context = ServerContext.of(session) else {
        return 0
      }
      return isSealing == 1
        ? context.tickets.seal(name, iv, cipher, mac) : context.tickets.open(name, iv, cipher, mac)
    }
  }

  /// 1: a ticket is made; 0: none is.
  private func seal(
    _ name: UnsafeMutablePointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
    _ mac: OpaquePointer
  ) -> CInt {
    guard let key = current(), RAND_bytes(iv, 16) == 1 else { return 0 }
    name.update(from: key.name, count: 16)
    guard EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, iv) == 1 else { return 0 }
    return Self.setMAC(mac, key) ? 1 : 0
  }

  /// 0: a full handshake; 1: the session goes on; 2: it goes on and gets a new ticket.
  private func open(
    _ name: UnsafeMutablePointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
    _ mac: OpaquePointer
  ) -> CInt {
    guard let (key, isCurrent) = key(named: Array(UnsafeBufferPointer(start: name, count: 16))) else { return 0 }
    guard EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, iv) == 1, Self.setMAC(mac, key) else {
      return 0
    }
    return isCurrent ? 1 : 2
  }

  private static func setMAC(_ mac: OpaquePointer, _ key: Key) -> Bool {
    var secret = key.mac
    return copenssl_set_ticket_mac(mac, &secret, secret.count) == 1
  }
}
