public import Bytes

extension ConnectGetQuery {
  /// Appends `?connect=v1…` in the protocol's order, so that equal calls have equal targets (cache keys).
  ///
  /// JSON that is not compressed goes as escaped text, all else as URL-safe base64 without padding.
  ///
  /// - Parameter message: the body as it would be posted, already compressed when `compression` says so.
  public static func write(
    message: Span<UInt8>, codec: MessageCodec, compression: String, into target: inout ByteBuffer
  ) {
    let isText = codec == .json && compression.isEmpty
    target.append("?connect=v1")
    if !isText { target.append("&base64=1") }
    if !compression.isEmpty {
      target.append("&compression=")
      PercentCoding.encode(Array(compression.utf8).span, into: &target)
    }
    target.append("&encoding=")
    target.append(codec.name)
    target.append("&message=")
    if isText {
      PercentCoding.encode(message, into: &target)
    } else {
      Base64.encode(message, into: &target, alphabet: .urlSafe, padded: false)
    }
  }
}
