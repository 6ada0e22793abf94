import ProtoJSON

/// Messages for which the codec borrows memory: what it allocates once it is warm is to be nothing.
enum SpecialCase: String, CaseIterable {
  case keys = "40 keys in a map"
  case fields = "140 fields"
  case any = "an Any"
  case typeLast = "an Any, @type last"
  case escaped = "escaped names"
  /// Two messages, one behind the other: the fields of the whole stand in two places.
  case scattered = "scattered fields"

  static let message = "bench.v1.Special"

  /// The documents whose wire bytes, one behind the other, are the message.
  private var documents: [String] {
    switch self {
    case .keys: return ["{\"keys\":{\((1...40).map { "\"key number \($0)\":\($0)" }.joined(separator: ","))}}"]
    case .fields: return ["{\"wide\":{\((1...140).map { "\"f\($0)\":\($0)" }.joined(separator: ","))}}"]
    case .any: return ["{\"content\":{\"@type\":\"type.googleapis.com/bench.v1.Item\",\(Self.item)}}"]
    case .typeLast: return ["{\"content\":{\(Self.item),\"@type\":\"type.googleapis.com/bench.v1.Item\"}}"]
    case .escaped: return ["{\"it\\u0065m\":{\"some\\u0054ext\":\"a text\",\"\\u006eumber\":\"5\"}}"]
    case .scattered:
      let names = (1...20).map { "\"\($0)\":\"name \($0)\"" }.joined(separator: ",")
      return [
        "{\"item\":{\(Self.item),\"names\":{\(names)}},\"keys\":{\"a\":1,\"b\":2}}",
        "{\"item\":{\(Self.item),\"names\":{\(names)}},\"keys\":{\"b\":3,\"c\":4}}",
      ]
    }
  }

  private static let item = "\"someText\":\"a text that is no short one\",\"number\":\"5\",\"list\":[1,2,3]"

  /// What goes in from JSON; nil where no document is the case.
  var json: [UInt8]? { self == .scattered ? nil : documents.first.map { Array($0.utf8) } }

  func wire(_ subject: inout Subject) throws(JSONError) -> [UInt8] {
    var wire: [UInt8] = []
    for document in documents { wire += try subject.bytes(.decode, Array(document.utf8)) }
    return wire
  }
}
