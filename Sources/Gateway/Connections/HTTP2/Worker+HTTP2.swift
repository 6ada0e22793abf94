import Bytes
import Configuration
import HTTP1
import HTTP2

extension Worker {
  /// What HTTP/2 sessions are told, from the same limits as HTTP/1.1.
  var http2Settings: HTTP2Settings {
    var settings = HTTP2Settings()
    settings.maximumFieldBytes = limits.header
    settings.maximumFields = limits.fields
    settings.maximumTarget = limits.target
    return settings
  }
}
