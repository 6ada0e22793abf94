package import Configuration
import Diagnostics
package import ProtobufSchema

/// What a route's `shadow:` says of single fields, ready to be compiled.
package struct ComparisonRules: Sendable {
  enum Effect: Sendable, Equatable {
    case ignore
    case unordered
    case tolerance(Tolerance)
  }

  struct Rule: Sendable {
    let path: FieldPath
    let effect: Effect
  }

  let rules: [Rule]

  /// Paths that cannot be read are left out: ``faults(of:in:messages:)`` has said so.
  package init(_ settings: RouteSettings.Shadow) {
    rules = Self.named(settings).compactMap { entry in
      (try? FieldPath(entry.path.name)).map { Rule(path: $0, effect: entry.effect) }
    }
  }

  package static let none = ComparisonRules(RouteSettings.Shadow())

  static func named(_ settings: RouteSettings.Shadow) -> [(path: Reference, effect: Effect)] {
    settings.ignore.map { ($0, .ignore) } + settings.unordered.map { ($0, .unordered) }
      + settings.tolerance.map { ($0.path, .tolerance(Tolerance($0.amount))) }
  }

  /// A path that fits none of the messages that it is for.
  package struct Fault: Sendable, Equatable {
    package let path: Reference
    package let what: String
    package let cure: String
  }

  /// The paths of the settings that mean nothing in any of these messages.
  ///
  /// - Parameter messages: indices into ``Schema/messages``: the answers of the methods that the settings are for.
  package static func faults(
    of settings: RouteSettings.Shadow, in schema: Schema, messages: [Int]
  ) -> [Fault] {
    named(settings).compactMap { path, effect in
      do throws(FieldPath.Fault) {
        let parsed = try FieldPath(path.name)
        var first: FieldPath.Fault?
        for message in messages {
          guard let fault = parsed.fault(in: schema, message: message, effect: effect) else { return nil }
          first = first ?? fault
        }
        return first.map { Fault(path: path, what: $0.what, cure: $0.cure) }
      } catch {
        return Fault(path: path, what: error.what, cure: error.cure)
      }
    }
  }
}

/// By how much two values may differ.
struct Tolerance: Sendable, Equatable {
  enum Unit: Sendable, Equatable {
    case absolute
    /// A part of the greater value.
    case relative
    case nanoseconds
  }

  let unit: Unit
  let amount: Double

  init(_ amount: RouteSettings.FieldTolerance.Amount) {
    switch amount {
    case .absolute(let value): (unit, self.amount) = (.absolute, value)
    case .relative(let value): (unit, self.amount) = (.relative, value)
    case .time(let duration):
      unit = .nanoseconds
      self.amount = duration / .nanoseconds(1)
    }
  }

  func allows(_ left: Double, _ right: Double) -> Bool {
    let distance = (left - right).magnitude
    switch unit {
    case .absolute, .nanoseconds: return distance <= amount
    case .relative: return distance <= amount * max(left.magnitude, right.magnitude)
    }
  }
}

extension FieldPath {
  /// Why the path means nothing in a message; nil when it names a field there.
  func fault(in schema: Schema, message: Int, effect: ComparisonRules.Effect) -> Fault? {
    var messages = [message]
    for (number, step) in steps.enumerated() {
      let candidates = messages.flatMap { schema.messages[$0].fields }
      var fields = candidates.filter { step.matches(($0.name, $0.jsonName)) }
      guard !fields.isEmpty else { return unknownStep(step, candidates, schema, messages) }
      if step.hasBrackets {
        fields.removeAll { $0.cardinality == .singular }
        if fields.isEmpty {
          return Fault(what: "\(shown(step)) is not repeated", cure: "leave out the `[]` behind it")
        }
      }
      if number == steps.count - 1 { return Self.fault(of: effect, on: fields, in: schema, shown(step)) }
      messages = Array(Set(fields.compactMap { Self.content(of: $0, in: schema) })).sorted()
      if messages.isEmpty {
        return Fault(what: "\(shown(step)) has no fields of its own", cure: "end the path there")
      }
    }
    return nil
  }

  private func shown(_ step: Step) -> String { "`\(step.name ?? "*")`" }

  private func unknownStep(_ step: Step, _ candidates: [Field], _ schema: Schema, _ messages: [Int]) -> Fault {
    let names = candidates.map(\.jsonName)
    let owner = messages.first.map { schema.messages[$0].fullName } ?? ""
    let near = step.name.flatMap { Nearest.match($0, in: names + candidates.map(\.name)) }
    let listed = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    return Fault(
      what: "\(owner) has no field \(shown(step))",
      cure: near.map { "did you mean `\($0)`?" } ?? (names.isEmpty ? "it has none" : "it has \(listed)"))
  }

  /// The message whose fields may follow in a path; nil for scalars and for types with a form of their own.
  static func content(of field: Field, in schema: Schema) -> Int? {
    guard field.messageIndex >= 0 else { return nil }
    guard field.cardinality == .map else { return MessageForm(schema.messages[field.messageIndex]).index(field) }
    guard let value = schema.messages[field.messageIndex].fields.first(where: { $0.number == 2 }),
      value.messageIndex >= 0
    else { return nil }
    return MessageForm(schema.messages[value.messageIndex]).index(value)
  }

  private static func fault(
    of effect: ComparisonRules.Effect, on fields: [Field], in schema: Schema, _ shown: String
  ) -> Fault? {
    switch effect {
    case .ignore: return nil
    case .unordered:
      if fields.contains(where: { $0.cardinality == .repeated }) { return nil }
      let isMap = fields.contains { $0.cardinality == .map }
      return Fault(
        what: isMap ? "\(shown) is a map, which has no order" : "\(shown) is not repeated", cure: "leave it out")
    case .tolerance(let tolerance):
      let kinds = fields.map { measure(of: $0, in: schema) }
      if tolerance.unit == .nanoseconds {
        if kinds.contains(.time) { return nil }
        return Fault(
          what: "\(shown) is no Timestamp and no Duration", cure: "write a number or a percentage, as in `0.01` or `1%`"
        )
      }
      if kinds.contains(.number) { return nil }
      return kinds.contains(.time)
        ? Fault(what: "\(shown) is a time", cure: "write a duration, as in `2s`")
        : Fault(what: "\(shown) is no number", cure: "name a field with numbers or times")
    }
  }

  enum Measure {
    case number, time, none
  }

  /// What a tolerance can mean for a field, or for the values of a map.
  static func measure(of field: Field, in schema: Schema) -> Measure {
    var field = field
    if field.cardinality == .map {
      guard let value = schema.messages[field.messageIndex].fields.first(where: { $0.number == 2 }) else {
        return .none
      }
      field = value
    }
    switch field.kind {
    case .string, .bytes, .bool, .enum: return .none
    case .message, .group:
      switch schema.messages[field.messageIndex].wellKnown {
      case .timestamp, .duration: return .time
      case .doubleValue, .floatValue, .int64Value, .uint64Value, .int32Value, .uint32Value: return .number
      default: return .none
      }
    default: return .number
    }
  }
}
