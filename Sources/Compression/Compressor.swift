package import Bytes
import CBrotli
import CZlib
import CZstd

/// Compresses whole bodies, at levels chosen for speed.
package enum Compressor {
  private static let gzipLevel: CInt = 1
  private static let brotliQuality: CInt = 3
  private static let zstdLevel: CInt = 1

  /// Appends the input in a coding; `identity` copies it.
  ///
  /// On an error the output may have grown memory, but holds what it held.
  package static func compress(
    _ input: Span<UInt8>, as coding: ContentCoding, into output: inout ByteBuffer
  ) throws(CompressionError) {
    switch coding {
    case .identity: output.append(input)
    case .gzip: try gzip(input, into: &output)
    case .br: try brotli(input, into: &output)
    case .zstd: try zstd(input, into: &output)
    }
  }

  private static func gzip(_ input: Span<UInt8>, into output: inout ByteBuffer) throws(CompressionError) {
    guard input.count <= Int(UInt32.max / 2) else { throw .malformed("input over 2 GiB") }
    // A window no greater than the input: the full one takes 256 KiB for each call.
    let windowBits = CInt(min(15, max(9, Int.bitWidth - max(1, input.count - 1).leadingZeroBitCount)))
    let memoryLevel = min(8, windowBits - 6)
    // zlib keeps the address of the stream.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let made = deflateInit2_(
      stream, gzipLevel, Z_DEFLATED, windowBits + 16, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      CInt(MemoryLayout<z_stream>.size))
    guard made == Z_OK else { throw .malformed("deflateInit2: \(made)") }
    defer { deflateEnd(stream) }
    let bound = Int(deflateBound(stream, UInt(input.count)))
    var result = Z_OK
    output.appendWithUnsafeRoom(bound) { room in
      input.withUnsafeBytes { source in
        // zlib only reads from `next_in`; its C type lacks the const.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(source.count)
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: room.count)
        result = deflate(stream, Z_FINISH)
      }
      return result == Z_STREAM_END ? Int(stream.pointee.total_out) : 0
    }
    guard result == Z_STREAM_END else { throw .malformed("deflate: \(result)") }
  }

  private static func brotli(_ input: Span<UInt8>, into output: inout ByteBuffer) throws(CompressionError) {
    let bound = max(16, BrotliEncoderMaxCompressedSize(input.count))
    // The window follows the input, so that small bodies need small tables.
    let windowBits = CInt(min(20, max(10, Int.bitWidth - input.count.leadingZeroBitCount)))
    let written = output.appendWithUnsafeRoom(bound) { room in
      input.withUnsafeBytes { source in
        var size = room.count
        let done = BrotliEncoderCompress(
          brotliQuality, windowBits, BROTLI_MODE_GENERIC, source.count,
          source.baseAddress?.assumingMemoryBound(to: UInt8.self), &size,
          room.baseAddress?.assumingMemoryBound(to: UInt8.self))
        return done == BROTLI_TRUE ? size : -1
      }
    }
    guard written > 0 else { throw .malformed("the brotli encoder failed") }
  }

  private static func zstd(_ input: Span<UInt8>, into output: inout ByteBuffer) throws(CompressionError) {
    let bound = ZSTD_compressBound(input.count)
    var failure = ""
    output.appendWithUnsafeRoom(bound) { room in
      input.withUnsafeBytes { source in
        let size = ZSTD_compress(room.baseAddress, room.count, source.baseAddress, source.count, zstdLevel)
        guard ZSTD_isError(size) == 0 else {
          failure = String(cString: ZSTD_getErrorName(size))
          return -1
        }
        return size
      }
    }
    if !failure.isEmpty { throw .malformed(failure) }
  }
}
