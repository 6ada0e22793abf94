package import Bytes
import CBrotli
import CZlib
import CZstd

/// Compresses a body piece by piece, at levels chosen for speed.
///
/// Memory is that of one encoder: about 256 KiB for gzip, 100 KiB to 1 MiB for the others.
package final class StreamCompressor {
  /// What has to be there when a piece was taken.
  package enum Flush: Sendable {
    /// Whatever the encoder likes.
    case none
    /// All that was taken can be read by the other side.
    case piece
    /// Nothing follows.
    case end
  }

  private enum Encoder {
    case gzip(UnsafeMutablePointer<z_stream>)
    case brotli(OpaquePointer)
    case zstd(OpaquePointer)
  }

  private let encoder: Encoder
  private static let room = 16 << 10

  /// - Returns: nil for `identity`, and when there is no memory.
  package init?(_ coding: ContentCoding) {
    switch coding {
    case .identity: return nil
    case .gzip:
      // zlib keeps the address of the stream.
      let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
      stream.initialize(to: z_stream())
      let made = deflateInit2_(
        stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
      guard made == Z_OK else {
        stream.deallocate()
        return nil
      }
      encoder = .gzip(stream)
    case .br:
      guard let state = BrotliEncoderCreateInstance(nil, nil, nil) else { return nil }
      BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, 3)
      BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, 18)
      encoder = .brotli(state)
    case .zstd:
      guard let context = ZSTD_createCCtx() else { return nil }
      ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
      encoder = .zstd(context)
    }
  }

  deinit {
    switch encoder {
    case .gzip(let stream):
      deflateEnd(stream)
      stream.deallocate()
    case .brotli(let state): BrotliEncoderDestroyInstance(state)
    case .zstd(let context): ZSTD_freeCCtx(context)
    }
  }

  /// Takes a piece, and appends what has come out.
  package func compress(
    _ input: Span<UInt8>, _ flush: Flush, into output: inout ByteBuffer
  ) throws(CompressionError) {
    switch encoder {
    case .gzip(let stream): try gzip(stream, input, flush, &output)
    case .brotli(let state): try brotli(state, input, flush, &output)
    case .zstd(let context): try zstd(context, input, flush, &output)
    }
  }

  private func gzip(
    _ stream: UnsafeMutablePointer<z_stream>, _ input: Span<UInt8>, _ flush: Flush, _ output: inout ByteBuffer
  ) throws(CompressionError) {
    guard let count = UInt32(exactly: input.count) else { throw .malformed("a piece over 4 GiB") }
    let mode =
      switch flush {
      case .none: Z_NO_FLUSH
      case .piece: Z_SYNC_FLUSH
      case .end: Z_FINISH
      }
    let failure: CInt? = input.withUnsafeBytes { source in
      // zlib only reads from `next_in`; its C type lacks the const.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = count
      while true {
        var result = Z_OK
        output.appendWithUnsafeRoom(Self.room) { room in
          let offered = UInt32(clamping: room.count)
          stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
          stream.pointee.avail_out = offered
          result = deflate(stream, mode)
          return Int(offered - stream.pointee.avail_out)
        }
        if result == Z_STREAM_END { return nil }
        // No progress is no fault: there was nothing to do.
        guard result == Z_OK || result == Z_BUF_ERROR else { return result }
        if stream.pointee.avail_out > 0, mode != Z_FINISH { return nil }
      }
    }
    if let failure { throw .malformed("deflate: \(failure)") }
  }

  private func brotli(
    _ state: OpaquePointer, _ input: Span<UInt8>, _ flush: Flush, _ output: inout ByteBuffer
  ) throws(CompressionError) {
    let operation =
      switch flush {
      case .none: BROTLI_OPERATION_PROCESS
      case .piece: BROTLI_OPERATION_FLUSH
      case .end: BROTLI_OPERATION_FINISH
      }
    let isDone: Bool = input.withUnsafeBytes { source in
      var next = source.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var left = source.count
      while true {
        var result = BROTLI_FALSE
        output.appendWithUnsafeRoom(Self.room) { room in
          var target = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
          var free = room.count
          result = BrotliEncoderCompressStream(state, operation, &left, &next, &free, &target, nil)
          return room.count - free
        }
        if result != BROTLI_TRUE { return false }
        if left == 0, BrotliEncoderHasMoreOutput(state) != BROTLI_TRUE { return true }
      }
    }
    if !isDone { throw .malformed("the brotli encoder failed") }
  }

  private func zstd(
    _ context: OpaquePointer, _ input: Span<UInt8>, _ flush: Flush, _ output: inout ByteBuffer
  ) throws(CompressionError) {
    let mode =
      switch flush {
      case .none: ZSTD_e_continue
      case .piece: ZSTD_e_flush
      case .end: ZSTD_e_end
      }
    let failure: String? = input.withUnsafeBytes { source in
      var taken = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
      while true {
        var left = 0
        output.appendWithUnsafeRoom(Self.room) { room in
          var made = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
          left = ZSTD_compressStream2(context, &made, &taken, mode)
          return made.pos
        }
        if ZSTD_isError(left) != 0 { return String(cString: ZSTD_getErrorName(left)) }
        if taken.pos == taken.size, left == 0 || mode == ZSTD_e_continue { return nil }
      }
    }
    if let failure { throw .malformed(failure) }
  }
}
