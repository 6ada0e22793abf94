package import Bytes

/// An ExportTraceServiceRequest as protobuf (opentelemetry/proto/collector/trace/v1/trace_service.proto).
package enum OTLPProtobuf {
  /// Appends the request that hands over these spans, which all belong to this resource.
  package static func write(_ spans: [SpanRecord], of resource: TraceResource, into output: inout ByteBuffer) {
    output.message(1) { group in
      group.message(1) { body in
        for attribute in resource.attributes { write(attribute, field: 1, into: &body) }
      }
      group.message(2) { scoped in
        scoped.message(1) { scope in
          scope.text(1, resource.scope)
          scope.text(2, resource.version)
        }
        for span in spans { scoped.message(2) { write(span, into: &$0) } }
      }
    }
  }

  private static func write(_ span: SpanRecord, into output: inout ByteBuffer) {
    output.bytes(1, [span.context.traceHigh, span.context.traceLow])
    output.bytes(2, [span.context.span])
    output.text(3, span.state)
    if span.parent != 0 { output.bytes(4, [span.parent]) }
    output.text(5, span.name)
    output.varint(6, UInt64(span.kind.rawValue))
    output.fixed64(7, span.start)
    output.fixed64(8, span.end)
    for attribute in span.attributes { write(attribute, field: 9, into: &output) }
    if span.status != .unset {
      output.message(15) { status in
        status.text(2, span.message)
        status.varint(3, UInt64(span.status.rawValue))
      }
    }
    output.fixed32(16, span.context.isSampled ? 1 : 0)
  }

  private static func write(_ attribute: SpanRecord.Attribute, field: Int, into output: inout ByteBuffer) {
    output.message(field) { pair in
      pair.text(1, attribute.key)
      pair.message(2) { value in
        switch attribute.value {
        // Members of a oneof are written with their default value, too.
        case .text(let text): value.text(1, text, evenEmpty: true)
        case .boolean(let boolean): value.varint(2, boolean ? 1 : 0)
        case .number(let number): value.varint(3, UInt64(bitPattern: Int64(number)))
        }
      }
    }
  }
}

/// Fields on the wire (protobuf encoding).
extension ByteBuffer {
  fileprivate mutating func tag(_ field: Int, _ type: UInt64) { raw(UInt64(field) << 3 | type) }

  private mutating func raw(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  fileprivate mutating func varint(_ field: Int, _ value: UInt64) {
    tag(field, 0)
    raw(value)
  }

  fileprivate mutating func fixed64(_ field: Int, _ value: UInt64) {
    tag(field, 1)
    for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
  }

  fileprivate mutating func fixed32(_ field: Int, _ value: UInt32) {
    tag(field, 5)
    for shift in stride(from: 0, to: 32, by: 8) { append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
  }

  /// Nothing for an empty text.
  fileprivate mutating func text(_ field: Int, _ text: String, evenEmpty: Bool = false) {
    guard !text.isEmpty || evenEmpty else { return }
    tag(field, 2)
    raw(UInt64(text.utf8.count))
    append(text: text)
  }

  /// The numbers in network order.
  fileprivate mutating func bytes(_ field: Int, _ numbers: [UInt64]) {
    tag(field, 2)
    raw(UInt64(numbers.count * 8))
    for number in numbers {
      for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
  }

  fileprivate mutating func message(_ field: Int, _ body: (inout ByteBuffer) -> Void) {
    var content = ByteBuffer()
    body(&content)
    tag(field, 2)
    raw(UInt64(content.count))
    append(content)
  }
}
