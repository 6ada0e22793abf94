import Bytes
import CNghttp2
import HTTPModel

/// Lays field sections out as the library wants them: names in lower case, pointers to both.
extension HTTP2Workspace {
  typealias Submit = (UnsafePointer<nghttp2_nv>?, Int) -> Int32

  /// Fields that are HTTP/1.1's own, or that are written from elsewhere.
  private static let left: FieldNames = [
    .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .http2Settings, .contentLength, .host, .te,
  ]
  /// Not to be kept in the peer's table, where their size could be probed.
  private static let sensitive: FieldNames = [.authorization, .proxyAuthorization, .cookie, .setCookie]

  func withResponse(status: Int, fields: FieldBlock, contentLength: Int?, _ submit: Submit) -> Int32 {
    begin()
    open(":status")
    text.append(decimal: status)
    close()
    add(fields)
    add(contentLength: contentLength)
    return unsafe finish(submit)
  }

  func withRequest(
    _ head: borrowing HTTP2RequestLine, fields: FieldBlock, contentLength: Int?, _ submit: Submit
  ) -> Int32 {
    begin()
    open(":method")
    text.append(text: head.method.name)
    close()
    open(":scheme")
    text.append(head.isSecure ? "https" : "http")
    close()
    if !head.authority.isEmpty {
      open(":authority")
      text.append(head.authority)
      close()
    }
    open(":path")
    text.append(head.target)
    close()
    add(fields)
    add(contentLength: contentLength)
    return unsafe finish(submit)
  }

  func withTrailers(_ fields: FieldBlock, _ submit: Submit) -> Int32 {
    begin()
    add(fields)
    return unsafe finish(submit)
  }

  private func begin() {
    text.removeAll()
    places.removeAll(keepingCapacity: true)
  }

  private func open(_ name: StaticString) {
    places.append(
      FieldPlace(
        name: text.count, nameLength: name.utf8CodeUnitCount, value: text.count &+ name.utf8CodeUnitCount,
        valueLength: 0, isSensitive: false))
    text.append(name)
  }

  private func close() {
    guard let last = places.indices.last else { return }
    places[last].valueLength = text.count &- places[last].value
  }

  private func add(contentLength: Int?) {
    guard let contentLength else { return }
    open("content-length")
    text.append(decimal: contentLength)
    close()
  }

  private func add(_ fields: FieldBlock) {
    for index in fields.indices {
      let entry = fields.entry(at: index)
      if entry.isRemoved { continue }
      if Self.left.contains(entry.name) {
        // gRPC insists on it, and it is the one value that HTTP/2 knows.
        guard entry.name == .te, fields.withValue(at: index, { ASCII.equalIgnoringCase($0, "trailers") }) else {
          continue
        }
      }
      let start = text.count
      fields.withName(at: index) { name in
        text.reserve(name.count)
        for position in name.indices { text.append(ASCII.lowercased(name[position])) }
      }
      let value = text.count
      fields.withValue(at: index) { text.append($0) }
      places.append(
        FieldPlace(
          name: start, nameLength: value &- start, value: value, valueLength: text.count &- value,
          isSensitive: Self.sensitive.contains(entry.name)))
    }
  }

  /// The text does not move any more: pointers are taken.
  private func finish(_ submit: Submit) -> Int32 {
    unsafe fields.removeAll(keepingCapacity: true)
    let result = unsafe text.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return submit(nil, 0) }
      let start = unsafe UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
      for place in places {
        let flag = place.isSensitive ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
        unsafe fields.append(
          nghttp2_nv(
            name: start + place.name, value: start + place.value, namelen: place.nameLength,
            valuelen: place.valueLength, flags: UInt8(flag.rawValue)))
      }
      return unsafe fields.withUnsafeBufferPointer { unsafe submit($0.baseAddress, $0.count) }
    }
    if text.capacity > Self.keptCapacity { text.releaseStorage() }
    return result
  }

  private static let keptCapacity = 64 << 10
}
