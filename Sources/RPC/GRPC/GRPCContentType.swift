import Bytes
public import HTTPModel

/// The content types of gRPC and gRPC-Web: `application/grpc`, `application/grpc-web`, `application/grpc-web-text`,
/// each bare (then the codec is proto) or with `+codec`.
public enum GRPCContentType {
  /// What a content type of these protocols says.
  public struct Parts: Equatable, Sendable {
    public var isWeb: Bool
    public var isText: Bool
    /// Nil for a codec that the gateway does not know: such messages pass untouched, or not at all.
    public var codec: MessageCodec?
  }

  /// Takes a field value apart; nil for any other type.
  public static func parts(_ value: Span<UInt8>) -> Parts? {
    let type = value.extracting(MediaType.essence(value))
    if let codec = codec(of: type, behind: "application/grpc-web-text") {
      return Parts(isWeb: true, isText: true, codec: codec.known)
    }
    if let codec = codec(of: type, behind: "application/grpc-web") {
      return Parts(isWeb: true, isText: false, codec: codec.known)
    }
    guard let codec = codec(of: type, behind: "application/grpc") else { return nil }
    return Parts(isWeb: false, isText: false, codec: codec.known)
  }

  private struct Codec {
    var known: MessageCodec?
  }

  private static func codec(of type: Span<UInt8>, behind name: StaticString) -> Codec? {
    guard MediaType.begins(type, name) else { return nil }
    let suffix = type.extracting(droppingFirst: name.utf8CodeUnitCount)
    if suffix.isEmpty { return Codec(known: .proto) }
    guard suffix[0] == UInt8(ascii: "+") else { return nil }
    let token = suffix.extracting(droppingFirst: 1)
    guard FieldSyntax.isToken(token) else { return nil }
    if ASCII.equalIgnoringCase(token, "proto") { return Codec(known: .proto) }
    if ASCII.equalIgnoringCase(token, "json") { return Codec(known: .json) }
    return Codec(known: nil)
  }

  /// Appends the content type of an answer: that of the request, without its parameters, in lower case.
  ///
  /// gRPC-Web clients compare it exactly, bare or with codec as they sent it.
  public static func mirror(_ request: FieldBlock, into fields: FieldBlock) {
    guard let index = request.firstIndex(of: .contentType) else { return }
    var type = ByteBuffer()
    request.withValue(at: index) { value in
      let range = MediaType.essence(value)
      type.reserve(range.count)
      for at in range { type.append(ASCII.lowercased(value[at])) }
    }
    fields.append(.contentType, type.span)
  }

  /// Checks the content type of an upstream's answer with status 200.
  ///
  /// - Parameter codec: that of the request; nil for one that the gateway does not know.
  /// - Throws: `unknown` for another protocol, `internal` for another codec, as the conformance suite wants them.
  public static func check(_ response: FieldBlock, isWeb: Bool, codec: MessageCodec?) throws(RPCError) {
    let index = response.firstIndex(of: .contentType)
    var parts: Parts?
    if let index { parts = response.withValue(at: index) { Self.parts($0) } }
    guard let index, let parts, parts.isWeb == isWeb else {
      let type = index.map { response.text(at: $0) } ?? "none"
      throw RPCError(
        .unknown, "the upstream's answer is not \(isWeb ? "gRPC-Web" : "gRPC")", logDetail: "content-type: \(type)")
    }
    if let codec, parts.codec != codec {
      throw RPCError(
        .internal, "the upstream's answer has another codec than \(codec.name)",
        logDetail: "content-type: \(response.text(at: index))")
    }
  }
}

extension MessageCodec {
  /// The content type of a gRPC request.
  public var grpcContentType: StaticString {
    switch self {
    case .proto: "application/grpc+proto"
    case .json: "application/grpc+json"
    }
  }

  /// The content type of a gRPC-Web request, binary.
  public var grpcWebContentType: StaticString {
    switch self {
    case .proto: "application/grpc-web+proto"
    case .json: "application/grpc-web+json"
    }
  }
}
