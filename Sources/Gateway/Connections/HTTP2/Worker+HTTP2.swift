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

  /// Takes the memory of a stream's output back when it is empty; a little stays for the stream's next use.
  func recycle(_ stream: HTTP2Stream) {
    if stream.output.capacity > HTTP2Stream.keptBytes { recycle(&stream.output) }
  }

  /// Takes the memory of a stream's output back, whatever is in it.
  func discard(_ stream: HTTP2Stream) {
    if stream.output.capacity > HTTP2Stream.keptBytes { discard(&stream.output) } else { stream.output.removeAll() }
  }
}
