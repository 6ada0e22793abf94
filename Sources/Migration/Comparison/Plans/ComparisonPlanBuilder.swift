import ProtobufSchema

/// Compiles the tables of a ``ComparisonPlan``: a message type is there once for each set of rules that reaches it.
struct ComparisonPlanBuilder {
  /// A rule whose first steps led to a message.
  private struct Active: Hashable {
    let rule: Int
    /// The next step.
    let step: Int
  }

  private struct Key: Hashable {
    let message: Int
    let rules: [Active]
    let isSecret: Bool
  }

  private let schema: Schema
  private let rules: [ComparisonRules.Rule]
  private(set) var messages: [ComparedMessage] = []
  private(set) var fields: [ComparedField] = []
  private(set) var names: [String] = []
  private(set) var tolerances: [Tolerance] = []
  private var known: [Key: Int] = [:]
  private var pending: [(key: Key, node: Int)] = []

  init(_ schema: Schema, _ rules: [ComparisonRules.Rule]) {
    self.schema = schema
    self.rules = rules
  }

  /// The message becomes the first of ``messages``.
  mutating func build(_ message: Int) {
    _ = node(Key(message: message, rules: rules.indices.map { Active(rule: $0, step: 0) }, isSecret: false))
    // Not by recursion: schemas may be deep.
    while let (key, node) = pending.popLast() { fill(node, key) }
  }

  private mutating func node(_ key: Key) -> Int {
    if let node = known[key] { return node }
    let type = schema.messages[key.message]
    let node = messages.count
    messages.append(
      ComparedMessage(message: Int32(key.message), form: MessageForm(type), isMessageSet: type.isMessageSet))
    known[key] = node
    pending.append((key, node))
    return node
  }

  private mutating func fill(_ node: Int, _ key: Key) {
    let type = schema.messages[key.message]
    let form = messages[node].form
    let start = fields.count
    for field in type.fields.sorted(by: { $0.number < $1.number }) {
      add(field, in: type, key, form)
    }
    messages[node].fieldsStart = Int32(start)
    messages[node].fieldsCount = Int32(fields.count - start)
    if type.isMapEntry {
      messages[node].keyField = Int32(fields[start...].firstIndex { $0.number == 1 } ?? -1)
      messages[node].valueField = Int32(fields[start...].firstIndex { $0.number == 2 } ?? -1)
    }
  }

  private mutating func add(_ field: Field, in type: MessageType, _ key: Key, _ form: MessageForm) {
    let found = effects(on: field, isEntry: type.isMapEntry, key.rules)
    let isSecret = key.isSecret || field.isRedacted || SecretNames.contain(field.name)
    let hasMessage = schema.messages.indices.contains(field.messageIndex)
    var node = -1
    if hasMessage, !found.isIgnored {
      node = self.node(Key(message: field.messageIndex, rules: found.inner, isSecret: isSecret))
    }
    fields.append(
      ComparedField(
        number: UInt32(bitPattern: field.number), kind: field.kind, cardinality: field.cardinality,
        form: hasMessage ? MessageForm(schema.messages[field.messageIndex]) : .plain, node: Int32(node),
        enumIndex: Int32(schema.enums.indices.contains(field.enumIndex) ? field.enumIndex : -1),
        tolerance: found.tolerance, hasPresence: field.hasPresence || field.oneofIndex >= 0,
        isIgnored: found.isIgnored, isUnordered: found.isUnordered || form == .fieldMask, isSecret: isSecret,
        isHidden: form.hidesNames || type.isMapEntry))
    names.append(field.jsonName)
  }

  private struct Effects {
    var isIgnored = false
    var isUnordered = false
    var tolerance: Int32 = -1
    /// What holds further inside.
    var inner: [Active] = []
  }

  /// - Parameter isEntry: whether the field is of a map's entry, which is no step of a path: what holds for the values
  ///   passes through it.
  private mutating func effects(on field: Field, isEntry: Bool, _ active: [Active]) -> Effects {
    var found = Effects()
    for active in active {
      let rule = rules[active.rule]
      let step = rule.path.steps[active.step]
      guard isEntry ? field.number == 2 : step.matches((field.name, field.jsonName)) else { continue }
      if active.step < rule.path.steps.count - 1 {
        found.inner.append(field.cardinality == .map ? active : Active(rule: active.rule, step: active.step + 1))
        continue
      }
      switch rule.effect {
      case .ignore: found.isIgnored = true
      case .unordered: found.isUnordered = true
      case .tolerance where field.cardinality == .map: found.inner.append(active)
      case .tolerance(let allowed):
        found.tolerance = Int32(tolerances.count)
        tolerances.append(allowed)
      }
    }
    return found
  }
}

/// Names whose values are kept out of samples and logs even where the schema does not say so.
enum SecretNames {
  private static let words = [
    "password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "cookie", "apikey",
    "privatekey", "signature", "otp", "pin", "cvv", "cvc", "iban", "ssn",
  ]
  /// Words that stand in many others: only whole parts of a name count.
  private static let longest = 4

  static func contain(_ name: String) -> Bool {
    let lower = name.lowercased()
    let joined = lower.filter { $0 != "_" }
    let parts = lower.split(separator: "_").map(String.init)
    return words.contains { $0.utf8.count > longest ? joined.contains($0) : parts.contains($0) }
  }
}
