import CProtoPeer

/// libprotobuf's JSON functions for one message type.
struct Peer: ~Copyable {
  private let handle: OpaquePointer

  init?(descriptorSet: [UInt8], message: String) {
    guard let handle = proto_peer_make(descriptorSet, descriptorSet.count, message) else { return nil }
    self.handle = handle
  }

  deinit { proto_peer_free(handle) }

  enum Function {
    case decode, encode, decodeBinary, encodeBinary, canonical
  }

  /// Calls one function and gives the length of its result; nil when it failed.
  func run(_ function: Function, _ input: [UInt8]) -> Int? {
    let result = call(function, input)
    return result.bytes == nil ? nil : result.length
  }

  /// The result itself.
  func bytes(_ function: Function, _ input: [UInt8]) -> [UInt8]? {
    let result = call(function, input)
    guard let start = result.bytes else { return nil }
    return Array(UnsafeBufferPointer(start: start, count: result.length))
  }

  private func call(_ function: Function, _ input: [UInt8]) -> CProtoPeerResult {
    switch function {
    case .decode: proto_peer_decode(handle, input, input.count)
    case .encode: proto_peer_encode(handle, input, input.count)
    case .decodeBinary: proto_peer_decode_binary(handle, input, input.count)
    case .encodeBinary: proto_peer_encode_binary(handle, input, input.count)
    case .canonical: proto_peer_canonical(handle, input, input.count)
    }
  }

  var fault: String { String(cString: proto_peer_fault(handle)) }
}
