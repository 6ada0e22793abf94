import CBrotli
import Glibc

/// Counts what a brotli decoder allocates, which the library does not tell: what is asked of it goes to the C library as
/// it would without, with the size of each block before it.
///
/// It lives as long as the decoder, which knows its address.
final class DecoderMemory {
  private(set) var bytes = 0

  /// Before each block; keeps the alignment that the C library's own blocks have.
  private static let head = 16

  func makeBrotliDecoder() -> OpaquePointer? {
    BrotliDecoderCreateInstance(
      { memory, size in
        guard let memory, size <= Int.max - DecoderMemory.head, let block = malloc(size + DecoderMemory.head) else {
          return nil
        }
        block.storeBytes(of: size, as: Int.self)
        Unmanaged<DecoderMemory>.fromOpaque(memory).takeUnretainedValue().bytes += size
        return block + DecoderMemory.head
      },
      { memory, address in
        guard let memory, let address else { return }
        let block = address - DecoderMemory.head
        Unmanaged<DecoderMemory>.fromOpaque(memory).takeUnretainedValue().bytes -= block.load(as: Int.self)
        free(block)
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
