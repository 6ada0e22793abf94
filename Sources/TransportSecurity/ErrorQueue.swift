import COpenSSL

/// OpenSSL's queue of errors, one for each thread.
///
/// It is cleared before a call whose errors are read, since older ones stay in it. Only the reason is taken: the data
/// that comes with some errors may quote what was read.
enum ErrorQueue {
  struct Entry {
    var library: CInt
    var reason: CInt
    var text: String
  }

  /// Clearing goes over all entries, used or not; that there are none is told at once.
  static func clear() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
  }

  /// The oldest error, which is nearest to the cause, or the oldest of a library; the queue is empty afterwards.
  static func take(preferring library: CInt? = nil) -> Entry? {
    var code = ERR_get_error()
    guard code != 0 else { return nil }
    let oldest = code
    if let library {
      while code != 0, copenssl_error_library(code) != library { code = ERR_get_error() }
      if code == 0 { code = oldest }
    }
    ERR_clear_error()
    return Entry(
      library: copenssl_error_library(code), reason: copenssl_error_reason(code),
      text: ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(String(code, radix: 16))")
  }

  static func takeText() -> String { take()?.text ?? "no reason is given" }
}
