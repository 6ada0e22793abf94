public import HTTPModel
import Bytes

/// The deadline of a Connect call: `connect-timeout-ms`, at most ten digits.
public enum ConnectTimeout {
  private static let maximumDigits = 10
  private static let maximum = 9_999_999_999

  /// The caller's timeout in milliseconds; nil without one, 0 for one that has run out already.
  ///
  /// - Throws: `invalid_argument` for what is no number, more than ten digits, or a field given twice.
  public static func milliseconds(_ fields: FieldBlock) throws(RPCError) -> Int? {
    guard let index = fields.firstIndex(of: .connectTimeoutMs) else { return nil }
    let value = fields.withValue(at: index) { $0.count <= maximumDigits ? ASCII.decimal($0) : nil }
    guard let value, fields.count(of: .connectTimeoutMs) == 1 else {
      throw RPCError(.invalidArgument, "connect-timeout-ms must be one whole number of at most 10 digits")
    }
    return value
  }

  /// Appends the field with the time that is left; negative is 0, more than ten digits is the greatest.
  public static func append(milliseconds: Int, to fields: FieldBlock) {
    fields.append(.connectTimeoutMs, decimal: min(max(0, milliseconds), maximum))
  }
}

/// The version of the Connect protocol that a caller speaks.
public enum ConnectVersion {
  /// Accepts `connect-protocol-version: 1` or none.
  ///
  /// - Throws: `invalid_argument` for any other value.
  public static func check(_ fields: FieldBlock) throws(RPCError) {
    guard let index = fields.firstIndex(of: .connectProtocolVersion) else { return }
    let isKnown = fields.withValue(at: index) { ASCII.equal($0, "1") }
    guard isKnown, fields.count(of: .connectProtocolVersion) == 1 else {
      throw RPCError(.invalidArgument, "connect-protocol-version must be \"1\"")
    }
  }
}
