extension GRPCStatus {
  /// What a client must assume of an HTTP status that came without `grpc-status` (gRPC, HTTP to gRPC Status Code
  /// Mapping); 200 is `unknown`.
  public static func code(ofHTTPStatus status: Int) -> Code {
    status == 431 ? .internal : Code(inferredFromStatus: status)
  }

  /// What a reset of an HTTP/2 stream means (gRPC over HTTP/2, Errors).
  ///
  /// - Parameter error: the error code of RST_STREAM or GOAWAY (RFC 9113 section 7).
  public static func code(ofReset error: UInt32) -> Code {
    switch error {
    case 0x7: .unavailable
    case 0x8: .canceled
    case 0xB: .resourceExhausted
    case 0xC: .permissionDenied
    case 0x0...0xD: .internal
    default: .unknown
    }
  }
}
