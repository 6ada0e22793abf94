import ProtobufSchema

/// Reading for both runs over wire bytes, as JSON and as wire bytes: what is malformed is a fault with its place.
extension WireReader {
  /// The bits of a scalar.
  @inline(__always)
  mutating func raw(_ type: WireType) throws(Fault) -> UInt64 {
    do {
      switch type {
      case .varint: return try readVarint()
      case .fixed32: return UInt64(try readFixed32())
      default: return try readFixed64()
      }
    } catch {
      throw Fault(error)
    }
  }

  /// Steps over the tag of a field if it is the one that comes, as serializers write it.
  @inline(__always)
  mutating func skipTag(of field: FieldPlan) -> Bool { skip(tag: field.nextTag, mask: field.nextMask) }

  @inline(__always)
  mutating func delimited() throws(Fault) -> Range<Int> {
    do { return try readLengthDelimited() } catch { throw Fault(error) }
  }

  /// The range of a message or group.
  @inline(__always)
  mutating func content(_ field: FieldPlan) throws(Fault) -> Range<Int> {
    guard field.kind == .group else { return try delimited() }
    do { return try readGroup(field.number) } catch { throw Fault(error) }
  }
}

extension Fault {
  init(_ error: WireError) { self.init(.wire, at: error.offset, error.reason) }
}
