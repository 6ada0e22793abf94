package import Bytes
import CBrotli
import CZlib
import CZstd

/// Decompresses a body piece by piece, and no more of it at once than is asked for.
///
/// As with ``Decompressor`` several gzip members or zstd frames in a row are one body, other bytes behind the end are
/// malformed, an empty body is empty in every coding, and the codings' windows are bounded.
package final class StreamDecompressor {
  private enum Decoder {
    case gzip(UnsafeMutablePointer<z_stream>)
    case brotli(OpaquePointer, DecoderMemory)
    case zstd(OpaquePointer)
  }

  private static let block = 16 << 10
  /// What zlib takes for a stream: its window of 32 KiB, and 7 KiB or a little more (zlib.h, "Memory usage").
  private static let gzipMemory = 40 << 10

  private let decoder: Decoder
  /// Whether what was taken so far could be a whole body.
  package private(set) var isComplete = true
  /// The decoder is inside a body, or gzip's next member is to begin.
  private var isAtEnd = false

  /// - Returns: nil for `identity`, and when there is no memory.
  package init?(_ coding: ContentCoding) {
    switch coding {
    case .identity: return nil
    case .gzip:
      // zlib keeps the address of the stream.
      let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
      stream.initialize(to: z_stream())
      let made = inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
      guard made == Z_OK else {
        stream.deallocate()
        return nil
      }
      decoder = .gzip(stream)
    case .br:
      let memory = DecoderMemory()
      guard let state = memory.makeBrotliDecoder() else { return nil }
      decoder = .brotli(state, memory)
    case .zstd:
      guard let context = ZSTD_createDCtx() else { return nil }
      ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Decompressor.zstdWindowLog)
      decoder = .zstd(context)
    }
  }

  deinit {
    switch decoder {
    case .gzip(let stream):
      inflateEnd(stream)
      stream.deallocate()
    case .brotli(let state, let memory):
      BrotliDecoderDestroyInstance(state)
      // It frees by it.
      withExtendedLifetime(memory) {}
    case .zstd(let context): ZSTD_freeDCtx(context)
    }
  }

  /// Bytes that the decoder holds at this moment: for brotli and zstd its sender chose how far it may look back, and they
  /// grow with what was read, up to 16 or 8 MiB.
  package var memory: Int {
    switch decoder {
    case .gzip: Self.gzipMemory
    case .brotli(_, let memory): memory.bytes
    case .zstd(let context): ZSTD_sizeof_DCtx(context)
    }
  }

  /// Consumes of the input what is needed to append up to `limit` bytes.
  ///
  /// - Returns: whether there may be more to append: the limit was reached.
  package func decompress(
    _ input: inout ByteBuffer, limit: Int, into output: inout ByteBuffer
  ) throws(CompressionError) -> Bool {
    var room = limit
    while room > 0 {
      let before = (input.count, output.count)
      let offered = min(room, Self.block)
      let taken: Int
      switch decoder {
      case .gzip(let stream): taken = try gunzip(stream, input.span, offered, &output)
      case .brotli(let state, _): taken = try unbrotli(state, input.span, offered, &output)
      case .zstd(let context): taken = try unzstd(context, input.span, offered, &output)
      }
      input.consume(taken)
      let made = output.count - before.1
      room -= made
      // Less than was offered: all that can be made of the input was made, but for a member behind this one.
      if made < offered, input.isEmpty || taken == 0 { return false }
    }
    return true
  }

  /// The input is complete.
  ///
  /// - Throws: when it was cut short.
  package func finish() throws(CompressionError) {
    if !isComplete { throw .malformed("the compressed data is cut short") }
  }

  private func gunzip(
    _ stream: UnsafeMutablePointer<z_stream>, _ input: Span<UInt8>, _ offered: Int, _ output: inout ByteBuffer
  ) throws(CompressionError) -> Int {
    if isAtEnd {
      if input.isEmpty { return 0 }
      isAtEnd = false
      inflateReset(stream)
    }
    let count = UInt32(clamping: input.count)
    if count > 0 { isComplete = false }
    var status = Z_OK
    input.withUnsafeBytes { source in
      // zlib only reads from `next_in`; its C type lacks the const.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = count
      output.appendWithUnsafeRoom(offered) { room in
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: offered)
        status = inflate(stream, Z_NO_FLUSH)
        return offered - Int(stream.pointee.avail_out)
      }
    }
    switch status {
    // No progress is no fault: there was nothing to do.
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END:
      isAtEnd = true
      isComplete = true
    default: throw .malformed(stream.pointee.msg.map { "gzip: \(String(cString: $0))" } ?? "gzip: error \(status)")
    }
    return Int(count - stream.pointee.avail_in)
  }

  private func unbrotli(
    _ state: OpaquePointer, _ input: Span<UInt8>, _ offered: Int, _ output: inout ByteBuffer
  ) throws(CompressionError) -> Int {
    if isAtEnd {
      if !input.isEmpty { throw .malformed("bytes behind the end of the brotli data") }
      return 0
    }
    if !input.isEmpty { isComplete = false }
    if isComplete { return 0 }
    var result = BROTLI_DECODER_RESULT_ERROR
    let left: Int = input.withUnsafeBytes { source in
      var next = source.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var left = source.count
      output.appendWithUnsafeRoom(offered) { room in
        var target = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var free = offered
        result = BrotliDecoderDecompressStream(state, &left, &next, &free, &target, nil)
        return offered - free
      }
      return left
    }
    switch result {
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: break
    case BROTLI_DECODER_RESULT_SUCCESS:
      isAtEnd = true
      isComplete = true
      if left > 0 { throw .malformed("bytes behind the end of the brotli data") }
    default:
      let code = BrotliDecoderGetErrorCode(state)
      throw .malformed(BrotliDecoderErrorString(code).map { "brotli: \(String(cString: $0))" } ?? "brotli")
    }
    return input.count - left
  }

  private func unzstd(
    _ context: OpaquePointer, _ input: Span<UInt8>, _ offered: Int, _ output: inout ByteBuffer
  ) throws(CompressionError) -> Int {
    if input.isEmpty, isComplete { return 0 }
    isComplete = false
    var status = 0
    let taken: Int = input.withUnsafeBytes { bytes in
      var source = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
      output.appendWithUnsafeRoom(offered) { room in
        var target = ZSTD_outBuffer(dst: room.baseAddress, size: offered, pos: 0)
        status = ZSTD_decompressStream(context, &target, &source)
        return target.pos
      }
      return source.pos
    }
    if ZSTD_isError(status) != 0 { throw .malformed("zstd: \(String(cString: ZSTD_getErrorName(status)))") }
    // 0: a frame has ended and all of it was written.
    isComplete = status == 0
    return taken
  }
}
