package import RPC

/// The body of `PUT /routes/{procedure}/stage`, and what `turnout stage` sends there.
package struct StageChange: Sendable, Equatable {
  package var stage: String
  /// The canary's share, 0 to 100.
  package var percent: Double?
  package var reason: String

  private static let names = ["stage", "percent", "reason"]

  package init(stage: String, percent: Double? = nil, reason: String = "") {
    self.stage = stage
    self.percent = percent
    self.reason = reason
  }

  /// Reads the body. `null` counts as absent; an unknown member is refused, naming the nearest known one.
  package init(parsing body: [UInt8]) throws(JSONFault) {
    self.init(stage: "")
    for member in try ChangeBody.members(of: body, Self.names, like: "{\"stage\":\"rpc\"}") {
      switch member.name {
      case "stage": stage = try ChangeBody.text(member)
      case "percent": percent = try Self.share(member)
      default: reason = try ChangeBody.reason(member)
      }
    }
    guard !stage.isEmpty else { throw JSONFault("\"stage\" is missing") }
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
