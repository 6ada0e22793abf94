package import Bytes
import RPC

/// An ExportTraceServiceRequest as JSON (OTLP/HTTP, JSON Protobuf Encoding): ids in hexadecimal, numbers of 64 bits as text.
package enum OTLPJSON {
  /// Appends the request that hands over these spans, which all belong to this resource.
  package static func write(_ spans: [SpanRecord], of resource: TraceResource, into output: inout ByteBuffer) {
    output.append("{\"resourceSpans\":[{\"resource\":{\"attributes\":")
    write(resource.attributes, into: &output)
    output.append("},\"scopeSpans\":[{\"scope\":{\"name\":")
    JSONText.append(resource.scope, into: &output)
    output.append(",\"version\":")
    JSONText.append(resource.version, into: &output)
    output.append("},\"spans\":[")
    for (index, span) in spans.enumerated() {
      if index > 0 { output.append(",") }
      write(span, into: &output)
    }
    output.append("]}]}]}")
  }

  private static func write(_ span: SpanRecord, into output: inout ByteBuffer) {
    output.append("{\"traceId\":\"")
    span.context.writeTrace(into: &output)
    output.append("\",\"spanId\":\"")
    TraceContext.append(span.context.span, to: &output)
    output.append("\"")
    if span.parent != 0 {
      output.append(",\"parentSpanId\":\"")
      TraceContext.append(span.parent, to: &output)
      output.append("\"")
    }
    if !span.state.isEmpty {
      output.append(",\"traceState\":")
      JSONText.append(span.state, into: &output)
    }
    output.append(",\"flags\":")
    output.append(decimal: span.context.isSampled ? 1 : 0)
    output.append(",\"name\":")
    JSONText.append(span.name, into: &output)
    output.append(",\"kind\":")
    output.append(decimal: Int(span.kind.rawValue))
    output.append(",\"startTimeUnixNano\":\"")
    output.append(decimal: span.start)
    output.append("\",\"endTimeUnixNano\":\"")
    output.append(decimal: span.end)
    output.append("\",\"attributes\":")
    write(span.attributes, into: &output)
    if span.status != .unset {
      output.append(",\"status\":{\"code\":")
      output.append(decimal: Int(span.status.rawValue))
      if !span.message.isEmpty {
        output.append(",\"message\":")
        JSONText.append(span.message, into: &output)
      }
      output.append("}")
    }
    output.append("}")
  }

  private static func write(_ attributes: [SpanRecord.Attribute], into output: inout ByteBuffer) {
    output.append("[")
    for (index, attribute) in attributes.enumerated() {
      if index > 0 { output.append(",") }
      output.append("{\"key\":")
      JSONText.append(attribute.key, into: &output)
      output.append(",\"value\":{")
      switch attribute.value {
      case .text(let text):
        output.append("\"stringValue\":")
        JSONText.append(text, into: &output)
      case .boolean(let boolean):
        output.append("\"boolValue\":")
        if boolean { output.append("true") } else { output.append("false") }
      case .number(let number):
        output.append("\"intValue\":\"")
        output.append(decimal: number)
        output.append("\"")
      }
      output.append("}}")
    }
    output.append("]")
  }
}
