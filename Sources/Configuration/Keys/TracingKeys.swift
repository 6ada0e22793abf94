extension Sections {
  static let tracing = Section<TracingKey>("the tracing")
  static let traceExporter = Section<TraceExporterKey>("an exporter of traces")
  static let otlp = Section<OTLPKey>("an OTLP exporter")
}

enum TracingKey: String, SectionKey {
  case exporter, sample, resource
  case parentBased = "parent_based"
  case serviceName = "service_name"
}

enum TraceExporterKey: String, SectionKey {
  case otlp
}

enum OTLPKey: String, SectionKey {
  case endpoint, `protocol`, headers, timeout, interval, queue, tls
}
