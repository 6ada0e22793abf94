import CZlib

extension Decompressor {
  /// Inflates gzip members (RFC 1952) one behind the other.
  static func gunzip(
    _ source: UnsafeRawBufferPointer, into produced: inout BoundedOutput
  ) throws(CompressionError) {
    guard let count = UInt32(exactly: source.count) else { throw .malformed("gzip input over 4 GiB") }
    // zlib keeps the address of the stream.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let made = inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
    guard made == Z_OK else { throw .malformed("inflateInit2: \(made)") }
    defer { inflateEnd(stream) }
    // zlib only reads from `next_in`; its C type lacks the const.
    stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = count
    while true {
      var status = Z_OK
      try produced.write { room in
        let offered = UInt32(clamping: room.count)
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = offered
        status = inflate(stream, Z_NO_FLUSH)
        return Int(offered - stream.pointee.avail_out)
      }
      switch status {
      case Z_OK: continue
      case Z_STREAM_END:
        if stream.pointee.avail_in == 0 { return }
        inflateReset(stream)
      case Z_BUF_ERROR:
        // Room was offered, so it is input that lacks.
        throw .malformed("gzip data is cut short")
      default:
        throw .malformed(stream.pointee.msg.map { "gzip: \(String(cString: $0))" } ?? "gzip: error \(status)")
      }
    }
  }
}
