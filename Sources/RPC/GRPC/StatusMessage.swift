import Bytes

/// `google.rpc.Status` on the wire: code = 1, message = 2, details = 3 (repeated `google.protobuf.Any` of type_url = 1,
/// value = 2).
struct StatusMessage {
  /// Details beyond which the rest is dropped.
  static let maximumDetails = 64

  var code = 0
  var message = ""
  var details: [ErrorDetail] = []

  /// Nil when the bytes are no protobuf message. Fields that are not the status's are skipped.
  init?(_ bytes: Span<UInt8>) {
    var scanner = StatusScanner(bytes)
    while !scanner.isAtEnd {
      guard let (number, value) = scanner.field() else { return nil }
      switch (number, value) {
      case (1, .varint(let code)): self.code = Int(truncatingIfNeeded: Int32(truncatingIfNeeded: code))
      case (2, .bytes(let range)): message = String(repairing: bytes.extracting(range))
      case (3, .bytes(let range)):
        guard let detail = Self.detail(bytes.extracting(range)) else { return nil }
        if details.count < Self.maximumDetails, !detail.typeName.isEmpty { details.append(detail) }
      default: break
      }
    }
  }

  private static func detail(_ bytes: Span<UInt8>) -> ErrorDetail? {
    var scanner = StatusScanner(bytes)
    var detail = ErrorDetail(typeName: "", value: [])
    while !scanner.isAtEnd {
      guard let (number, value) = scanner.field() else { return nil }
      switch (number, value) {
      case (1, .bytes(let range)):
        let url = String(repairing: bytes.extracting(range))
        detail.typeName = url.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
      case (2, .bytes(let range)):
        detail.value = [UInt8](capacity: range.count) { (output: inout OutputSpan<UInt8>) in
          for index in range { output.append(bytes[index]) }
        }
      default: break
      }
    }
    return detail
  }

  /// Appends the status of an error.
  static func write(_ error: RPCError, into output: inout ByteBuffer) {
    output.append(0x08)
    output.append(error.code.rawValue)
    if !error.message.isEmpty {
      output.append(0x12)
      append(varint: error.message.utf8.count, to: &output)
      output.append(text: error.message)
    }
    for detail in error.details {
      let urlLength = urlPrefix.utf8CodeUnitCount + detail.typeName.utf8.count
      let length =
        1 + varintLength(urlLength) + urlLength
        + (detail.value.isEmpty ? 0 : 1 + varintLength(detail.value.count) + detail.value.count)
      output.append(0x1A)
      append(varint: length, to: &output)
      output.append(0x0A)
      append(varint: urlLength, to: &output)
      output.append(urlPrefix)
      output.append(text: detail.typeName)
      if !detail.value.isEmpty {
        output.append(0x12)
        append(varint: detail.value.count, to: &output)
        output.append(detail.value)
      }
    }
  }

  private static let urlPrefix: StaticString = "type.googleapis.com/"

  private static func append(varint value: Int, to output: inout ByteBuffer) {
    var rest = UInt(value)
    while rest >= 0x80 {
      output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    output.append(UInt8(truncatingIfNeeded: rest))
  }

  private static func varintLength(_ value: Int) -> Int {
    var length = 1
    var rest = UInt(value) >> 7
    while rest > 0 {
      length += 1
      rest >>= 7
    }
    return length
  }
}
