import Bytes
import CNghttp2
import HTTPModel

/// Lays field sections out as the library wants them: pointers to names and values.
///
/// The library copies the values, and turns the names into lower case, before a call returns, so all pointers are into
/// what the caller has. Names that are known here are not even copied: they are constants.
@safe
struct FieldLayout: ~Copyable {
  typealias Submit = (UnsafePointer<nghttp2_nv>?, Int) -> Int32

  private var table: [nghttp2_nv] = unsafe []
  /// Numbers as text, and the method.
  private var text = ByteBuffer()

  /// Fields that are HTTP/1.1's own, or that are written from elsewhere.
  private static let left: FieldNames = [
    .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .http2Settings, .contentLength, .host, .te,
  ]
  /// Not to be kept in the peer's table, where their size could be probed.
  private static let sensitive: FieldNames = [.authorization, .proxyAuthorization, .cookie, .setCookie]

  mutating func withResponse(status: Int, fields: FieldBlock, contentLength: Int?, _ submit: Submit) -> Int32 {
    text.removeAll()
    text.append(decimal: status)
    let statusLength = text.count
    if let contentLength { text.append(decimal: contentLength) }
    unsafe table.removeAll(keepingCapacity: true)
    let hasLength = contentLength != nil
    return unsafe text.withUnsafeBytes { text in
      unsafe Self.add(":status", text[..<statusLength], to: &table)
      if hasLength { unsafe Self.add("content-length", text[statusLength...], to: &table) }
      return unsafe Self.add(fields, to: &table, submit)
    }
  }

  mutating func withRequest(
    _ head: borrowing HTTP2RequestLine, fields: FieldBlock, contentLength: Int?, _ submit: Submit
  ) -> Int32 {
    text.removeAll()
    text.append(text: head.method.name)
    let methodLength = text.count
    if let contentLength { text.append(decimal: contentLength) }
    unsafe table.removeAll(keepingCapacity: true)
    let hasLength = contentLength != nil
    let scheme: StaticString = head.isSecure ? "https" : "http"
    return unsafe text.withUnsafeBytes { text in
      unsafe head.authority.withUnsafeBytes { authority in
        unsafe head.target.withUnsafeBytes { target in
          unsafe Self.add(":method", text[..<methodLength], to: &table)
          unsafe Self.add(
            ":scheme", UnsafeRawBufferPointer(start: scheme.utf8Start, count: scheme.utf8CodeUnitCount)[...], to: &table
          )
          if authority.count > 0 { unsafe Self.add(":authority", authority[...], to: &table) }
          unsafe Self.add(":path", target[...], to: &table)
          if hasLength { unsafe Self.add("content-length", text[methodLength...], to: &table) }
          return unsafe Self.add(fields, to: &table, submit)
        }
      }
    }
  }

  mutating func withTrailers(_ fields: FieldBlock, _ submit: Submit) -> Int32 {
    unsafe table.removeAll(keepingCapacity: true)
    return unsafe Self.add(fields, to: &table, submit)
  }

  private static func add(
    _ name: StaticString, _ value: Slice<UnsafeRawBufferPointer>, to table: inout [nghttp2_nv]
  ) {
    let value = unsafe UnsafeRawBufferPointer(rebasing: value)
    unsafe table.append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start),
        value: UnsafeMutableRawPointer(mutating: value.baseAddress)?.assumingMemoryBound(to: UInt8.self),
        namelen: name.utf8CodeUnitCount, valuelen: value.count,
        flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)))
  }

  /// The block's memory does not move while it is read, and the table not any more: pointers are taken.
  private static func add(_ fields: FieldBlock, to table: inout [nghttp2_nv], _ submit: Submit) -> Int32 {
    fields.withFields { lines, entries in
      unsafe lines.withUnsafeBufferPointer { lines in
        for index in entries.indices {
          let entry = entries[index]
          if entry.isRemoved { continue }
          let value = unsafe UnsafeBufferPointer(rebasing: lines[entry.valueBytes])
          if Self.left.contains(entry.name) {
            // gRPC insists on it, and it is the one value that HTTP/2 knows.
            let isWanted = unsafe entry.name == .te && ASCII.equalIgnoringCase(Span(_unsafeElements: value), "trailers")
            guard isWanted else { continue }
          }
          var flags = Self.sensitive.contains(entry.name) ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0
          var name = unsafe UnsafeBufferPointer(rebasing: lines[entry.nameBytes])
          if entry.name != .other {
            let text = entry.name.text
            unsafe name = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
          }
          unsafe table.append(
            nghttp2_nv(
              name: UnsafeMutablePointer(mutating: name.baseAddress),
              value: UnsafeMutablePointer(mutating: value.baseAddress), namelen: name.count, valuelen: value.count,
              flags: UInt8(flags)))
        }
        return unsafe table.withUnsafeBufferPointer { unsafe submit($0.baseAddress, $0.count) }
      }
    }
  }
}
