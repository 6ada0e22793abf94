import Bytes
import ProtoJSON
import ProtobufSchema

/// A reply message that holds an HttpBody, read as its bytes come: what stands before the data, the data, and that
/// nothing behind it says otherwise.
package struct RawReply: Sendable {
  /// What the first bytes of a message say.
  package enum Beginning: Sendable, Equatable {
    /// Too few of them.
    case needsMore
    /// The message has to be whole to be understood: there is no data, or the fields are in another order.
    case whole
    case data(Data)
  }

  /// The data, and where it lies.
  package struct Data: Sendable, Equatable {
    /// Fit for a header.
    package let contentType: String
    package let start: Int
    package let length: Int
    /// Bytes of the HttpBody behind its data; nil when the message's own end is the HttpBody's and is not known.
    let rest: Int?
  }

  /// Bytes of a content type that are waited for.
  private static let longestType = 4_096

  private let schema: Schema
  private let message: Int
  /// The field that holds the HttpBody; nil when the message is one.
  private let field: Int?

  init(_ schema: Schema, message: Int, field: Int?) {
    self.schema = schema
    self.message = message
    self.field = field
  }

  // MARK: The beginning

  /// Reads the first bytes of a message.
  ///
  /// - Parameter total: bytes of the whole message, when they are known.
  package func begin(_ wire: Span<UInt8>, total: Int?) -> Beginning {
    var scan = Scan(wire: wire, end: total)
    guard let field else { return scan.httpBody() }
    let number = UInt32(bitPattern: schema.messages[message].fields[field].number)
    while true {
      switch scan.next() {
      case .needsMore: return .needsMore
      case .end, .unreadable: return .whole
      case .content(let found, let content) where found == number:
        scan.position = content.lowerBound
        scan.end = content.upperBound
        return scan.httpBody()
      case .content(_, let content): scan.position = content.upperBound
      case .scalar: continue
      }
    }
  }

  /// Follows fields without asking for the bytes of their contents.
  private struct Scan: ~Escapable {
    enum Step {
      case needsMore
      case end
      /// Malformed, or a group.
      case unreadable
      case content(UInt32, Range<Int>)
      case scalar
    }

    let wire: Span<UInt8>
    var end: Int?
    var position = 0

    @_lifetime(copy wire)
    init(wire: Span<UInt8>, end: Int?) {
      self.wire = wire
      self.end = end
    }

    mutating func next() -> Step {
      if let end, position >= end { return position == end ? .end : .unreadable }
      guard position < wire.count else { return .needsMore }
      var reader = WireReader(wire, position..<Swift.min(wire.count, end ?? wire.count))
      do throws(WireError) {
        let tag = try reader.readTag()
        switch tag.type {
        case .lengthDelimited:
          let length = try reader.readVarint()
          let room = (end ?? Int.max) - reader.offset
          guard length <= UInt64(Swift.max(room, 0)) else { return .unreadable }
          return .content(tag.number, reader.offset..<reader.offset + Int(length))
        case .startGroup, .endGroup: return .unreadable
        case .varint, .fixed64, .fixed32:
          try reader.skip(tag)
          position = reader.offset
          return .scalar
        }
      } catch {
        let isCut = error.kind == .truncated && (end ?? Int.max) > wire.count
        return isCut ? .needsMore : .unreadable
      }
    }

    /// Reads the fields of an HttpBody up to its data.
    mutating func httpBody() -> Beginning {
      var type: Range<Int>?
      while true {
        switch next() {
        case .needsMore: return .needsMore
        case .end, .unreadable: return .whole
        case .scalar: continue
        case .content(1, let content):
          guard content.count <= RawReply.longestType else { return .whole }
          guard content.upperBound <= wire.count else { return .needsMore }
          type = content
          position = content.upperBound
        case .content(2, let content):
          let rest = end.map { $0 - content.upperBound }
          // A type may still come.
          if type == nil, let rest, rest > 0 { return .whole }
          let header = HTTPBody.header(wire.extracting(type ?? 0..<0))
          return .data(Data(contentType: header, start: content.lowerBound, length: content.count, rest: rest))
        case .content(_, let content): position = content.upperBound
        }
      }
    }
  }

  // MARK: The end

  /// Whether what stands behind the data leaves it as it is: no type, no further data, no other value of the field.
  ///
  /// - Parameter tail: all bytes of the message behind the data.
  package func ends(_ data: Data, with tail: Span<UInt8>) -> Bool {
    let inner = Swift.min(data.rest ?? tail.count, tail.count)
    guard data.rest ?? tail.count <= tail.count else { return false }
    guard allows(tail, 0..<inner, { $0 == 1 || $0 == 2 }) else { return false }
    guard let field else { return inner == tail.count }
    let fields = schema.messages[message].fields
    let wanted = fields[field]
    return allows(tail, inner..<tail.count) { number in
      number == UInt32(bitPattern: wanted.number)
        || wanted.oneofIndex >= 0
          && fields.contains { $0.oneofIndex == wanted.oneofIndex && UInt32(bitPattern: $0.number) == number }
    }
  }

  private func allows(_ tail: Span<UInt8>, _ range: Range<Int>, _ isForbidden: (UInt32) -> Bool) -> Bool {
    var reader = WireReader(tail, range)
    do throws(WireError) {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        if isForbidden(tag.number) { return false }
        try reader.skip(tag)
      }
    } catch {
      return false
    }
    return true
  }
}

extension RESTBinding {
  /// How raw answers are read as they come; nil for answers that are messages.
  package var rawReply: RawReply? {
    switch response {
    case .raw: RawReply(schema, message: output, field: nil)
    case .rawField(let field): RawReply(schema, message: output, field: field)
    case .message, .field: nil
    }
  }
}
