import Configuration
import Diagnostics
import ProtobufSchema
import REST

/// The fields of `events:` that no stream of a service, or not the stream of a method, has.
enum EventChecks {
  /// Those of a service: one of its streams has to have the field.
  static func faults(of service: ServiceConfiguration, _ type: ServiceType, _ schema: Schema) -> [Diagnostic] {
    let streams = type.methods.filter(\.isServerStreaming)
    return faults(service.settings.events, schema, streams.map(\.output))
  }

  /// Those that a method has of its own.
  static func faults(
    _ method: MethodType, _ service: RouteSettings, _ settings: RouteSettings, _ schema: Schema
  ) -> [Diagnostic] {
    var own = settings.events
    if own.event == service.events.event { own.event = nil }
    if own.id == service.events.id { own.id = nil }
    return faults(own, schema, method.isServerStreaming ? [method.output] : [])
  }

  private static func faults(_ events: RouteSettings.Events, _ schema: Schema, _ messages: [Int]) -> [Diagnostic] {
    [events.event, events.id].compactMap { field in
      guard let field, !messages.contains(where: { EventFields.index(of: field.name, in: schema, message: $0) != nil })
      else { return nil }
      if messages.isEmpty {
        return Diagnostic(
          at: field.position, "`events` is for methods that stream answers, and there is none", cure: "leave it out")
      }
      return Diagnostic(
        at: field.position, "the messages of the stream have no field \(field.shown) that is one word",
        cure: "name a field of theirs with a text, a whole number, a boolean or an enum")
    }
  }
}
