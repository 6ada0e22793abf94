/// One span that is over, ready to be given away.
package struct SpanRecord: Sendable {
  /// The numbers are those of OTLP.
  package enum Kind: UInt8, Sendable {
    case server = 2
    case client = 3
  }

  /// The numbers are those of OTLP.
  package enum Status: UInt8, Sendable {
    case unset = 0
    case error = 2
  }

  package enum Value: Sendable, Equatable {
    case text(String)
    case number(Int)
    case boolean(Bool)
  }

  package struct Attribute: Sendable {
    package var key: String
    package var value: Value

    package init(_ key: String, _ value: Value) {
      self.key = key
      self.value = value
    }
  }

  package var context: TraceContext
  /// 0: none.
  package var parent: UInt64
  /// The vendors' part of the trace, as it came; empty: none.
  package var state = ""
  package var kind: Kind
  package var name: String
  /// Nanoseconds since 1970.
  package var start: UInt64
  package var end: UInt64
  package var attributes: [Attribute] = []
  package var status = Status.unset
  /// Why, when the status is an error.
  package var message = ""

  package init(context: TraceContext, parent: UInt64, kind: Kind, name: String, start: UInt64, end: UInt64) {
    self.context = context
    self.parent = parent
    self.kind = kind
    self.name = name
    self.start = start
    self.end = end
  }

  /// Adds a text, unless there is none or it is empty.
  package mutating func add(_ key: String, _ text: String?) {
    if let text, !text.isEmpty { attributes.append(Attribute(key, .text(text))) }
  }

  package mutating func add(_ key: String, _ number: Int) { attributes.append(Attribute(key, .number(number))) }
  package mutating func add(_ key: String, _ flag: Bool) { attributes.append(Attribute(key, .boolean(flag))) }
}

/// Who made the spans.
package struct TraceResource: Sendable {
  package var attributes: [SpanRecord.Attribute]
  package var scope = "turnout"
  package var version = ""

  package init(attributes: [SpanRecord.Attribute]) { self.attributes = attributes }
}
