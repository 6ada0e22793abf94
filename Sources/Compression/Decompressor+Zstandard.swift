import CZstd

extension Decompressor {
  /// The greatest window of zstd as a content coding (RFC 9659), as a power of two: 8 MiB.
  static let zstdWindowLog: CInt = 23

  /// Decompresses zstd frames (RFC 8878) one behind the other.
  static func unzstd(
    _ source: UnsafeRawBufferPointer, into produced: inout BoundedOutput
  ) throws(CompressionError) {
    guard let context = ZSTD_createDCtx() else { throw .malformed("no zstd decoder") }
    defer { ZSTD_freeDCtx(context) }
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, zstdWindowLog)
    var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
    while true {
      var status = 0
      var isFull = false
      try produced.write { room in
        var target = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
        status = ZSTD_decompressStream(context, &target, &input)
        isFull = target.pos == target.size
        return target.pos
      }
      if ZSTD_isError(status) != 0 { throw .malformed("zstd: \(String(cString: ZSTD_getErrorName(status)))") }
      if input.pos < input.size { continue }
      // 0: a frame has ended and all of it was written.
      if status == 0 { return }
      if !isFull { throw .malformed("zstd data is cut short") }
    }
  }
}
