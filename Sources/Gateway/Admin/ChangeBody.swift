import Diagnostics
package import RPC

/// What the bodies of changing verbs have in common.
enum ChangeBody {
  /// Bytes of a reason; it goes into one log line.
  static let maximumReason = 256

  /// The members of an object. `null` counts as absent; an unknown member is refused, naming the nearest known one.
  ///
  /// - Parameter example: for who sent no object.
  static func members(
    of body: [UInt8], _ names: [String], like example: String
  ) throws(JSONFault) -> [JSONValue.Member] {
    guard let members = try JSONValue(parsing: body).members else {
      throw JSONFault("the body must be an object like \(example)")
    }
    for member in members where !names.contains(member.name) {
      let hint = Nearest.match(member.name, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw JSONFault("unknown member \"\(member.name)\"\(hint)")
    }
    return members.filter { $0.value != .null }
  }

  static func text(_ member: JSONValue.Member) throws(JSONFault) -> String {
    guard let text = member.value.text else { throw JSONFault("\"\(member.name)\" must be a string") }
    return text
  }

  static func reason(_ member: JSONValue.Member) throws(JSONFault) -> String {
    let reason = try text(member)
    guard reason.utf8.count <= maximumReason else {
      throw JSONFault("\"\(member.name)\" is longer than \(maximumReason) bytes")
    }
    return reason
  }

  /// A body that can say nothing but why: `{"reason": "…"}`, or nothing at all.
  static func reason(of body: [UInt8]) throws(JSONFault) -> String {
    if body.isEmpty { return "" }
    for member in try members(of: body, ["reason"], like: "{\"reason\":\"over\"}") { return try reason(member) }
    return ""
  }
}

/// The body of `PUT /routes/{procedure}/hold`, and what `turnout hold` sends there.
package struct HoldChange: Sendable, Equatable {
  package var isHeld: Bool
  package var reason: String

  package init(isHeld: Bool, reason: String = "") {
    self.isHeld = isHeld
    self.reason = reason
  }

  /// Reads the body; see ``StageChange/init(parsing:)``.
  package init(parsing body: [UInt8]) throws(JSONFault) {
    var isHeld: Bool?
    reason = ""
    for member in try ChangeBody.members(of: body, ["held", "reason"], like: "{\"held\":true}") {
      if member.name == "reason" {
        reason = try ChangeBody.reason(member)
      } else {
        guard case .bool(let value) = member.value else { throw JSONFault("\"held\" must be true or false") }
        isHeld = value
      }
    }
    guard let isHeld else { throw JSONFault("\"held\" is missing") }
    self.isHeld = isHeld
  }

  /// The body as it is sent.
  package var json: JSONValue {
    var members = [JSONValue.Member("held", .bool(isHeld))]
    if !reason.isEmpty { members.append(JSONValue.Member("reason", .string(reason))) }
    return .object(members)
  }
}
