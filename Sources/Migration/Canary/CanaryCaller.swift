package import Configuration
package import HTTPModel

/// What a canary asks of a call. Nothing of it is kept.
package protocol CanaryCaller {
  /// Of the request's head.
  var fields: FieldBlock { get }
  var callerProtocol: RouteSettings.CallerProtocol { get }
  /// The 128 bits of the client's address as ``AddressRange`` has them; nil: unknown.
  var addressBits: (high: UInt64, low: UInt64)? { get }
  /// A claim of the call's verified token, as text; nil: there is none.
  func claim(named name: String) -> String?
}
