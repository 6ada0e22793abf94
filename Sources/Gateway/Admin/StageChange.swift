import Diagnostics
package import RPC

/// The body of `PUT /routes/{procedure}/stage`, and what `turnout stage` sends there.
package struct StageChange: Sendable, Equatable {
  package var stage: String
  /// The canary's share, 0 to 100.
  package var percent: Double?
  package var reason: String

  /// Bytes of a reason; it goes into one log line.
  static let maximumReason = 256
  private static let names = ["stage", "percent", "reason"]

  package init(stage: String, percent: Double? = nil, reason: String = "") {
    self.stage = stage
    self.percent = percent
    self.reason = reason
  }

  /// Reads the body. `null` counts as absent; an unknown member is refused, naming the nearest known one.
  package init(parsing body: [UInt8]) throws(JSONFault) {
    guard let members = try JSONValue(parsing: body).members else {
      throw JSONFault("the body must be an object like {\"stage\":\"rpc\"}")
    }
    self.init(stage: "")
    for member in members where member.value != .null {
      switch member.name {
      case "stage": stage = try Self.text(member)
      case "percent": percent = try Self.share(member)
      case "reason": reason = try Self.text(member)
      default:
        let hint = Nearest.match(member.name, in: Self.names).map { "; did you mean \"\($0)\"?" } ?? ""
        throw JSONFault("unknown member \"\(member.name)\"\(hint)")
      }
    }
    guard !stage.isEmpty else { throw JSONFault("\"stage\" is missing") }
    guard reason.utf8.count <= Self.maximumReason else {
      throw JSONFault("\"reason\" is longer than \(Self.maximumReason) bytes")
    }
  }

  private static func text(_ member: JSONValue.Member) throws(JSONFault) -> String {
    guard let text = member.value.text else { throw JSONFault("\"\(member.name)\" must be a string") }
    return text
  }

  private static func share(_ member: JSONValue.Member) throws(JSONFault) -> Double {
    guard let number = member.value.number, number >= 0, number <= 100 else {
      throw JSONFault("\"percent\" must be a number from 0 to 100")
    }
    return number
  }

  /// The body as it is sent.
  package var json: JSONValue {
    var members = [JSONValue.Member("stage", .string(stage))]
    if let percent { members.append(JSONValue.Member("percent", .literal("\(percent)"))) }
    if !reason.isEmpty { members.append(JSONValue.Member("reason", .string(reason))) }
    return .object(members)
  }
}
