import CBrotli

extension Decompressor {
  /// Decompresses one brotli stream (RFC 7932); the large-window extension is off.
  static func unbrotli(
    _ source: UnsafeRawBufferPointer, into produced: inout BoundedOutput
  ) throws(CompressionError) {
    guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .malformed("no brotli decoder") }
    defer { BrotliDecoderDestroyInstance(state) }
    var next = source.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var left = source.count
    while true {
      var result = BROTLI_DECODER_RESULT_ERROR
      try produced.write { room in
        var target = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var free = room.count
        result = BrotliDecoderDecompressStream(state, &left, &next, &free, &target, nil)
        return room.count - free
      }
      switch result {
      case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: throw .malformed("brotli data is cut short")
      case BROTLI_DECODER_RESULT_SUCCESS:
        if left > 0 { throw .malformed("bytes behind the end of the brotli data") }
        return
      default:
        let code = BrotliDecoderGetErrorCode(state)
        throw .malformed(BrotliDecoderErrorString(code).map { "brotli: \(String(cString: $0))" } ?? "brotli")
      }
    }
  }
}
