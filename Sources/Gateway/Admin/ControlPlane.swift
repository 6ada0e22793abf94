package import Diagnostics

/// What the admin endpoint can ask of the running gateway. Called on the admin server's own thread.
package protocol ControlPlane: AnyObject, Sendable {
  /// All metrics as Prometheus text.
  func metrics() -> [UInt8]
  /// Whether new requests should come here: a snapshot serves and the gateway does not drain.
  var isReady: Bool { get }
  /// The route table as JSON.
  func routes() -> [UInt8]
  /// The upstreams and how their endpoints do, as JSON.
  func upstreams() -> [UInt8]
  /// Sets the stage of one route until the next change of it.
  ///
  /// - Parameters:
  ///   - procedure: `pkg.Service/Method`, without a leading slash.
  ///   - stage: as the caller wrote it.
  ///   - percent: 0 to 100; nil when the caller gave none.
  ///   - reason: for the log; may be empty.
  /// - Returns: the route as JSON.
  func setStage(
    procedure: String, stage: String, percent: Double?, reason: String
  ) -> Result<[UInt8], ControlError>
  /// Reads the configuration anew and publishes it; a faulty one leaves the old one serving.
  func reload() -> ReloadOutcome
}

/// Why a change was refused.
package enum ControlError: Error, Sendable, Equatable {
  /// There is no such route; the message names the nearest one. Answered with 404.
  case notFound(String)
  /// The route cannot have this stage. Answered with 400.
  case invalid(String)
}

/// What came of a reload.
package enum ReloadOutcome: Sendable, Equatable {
  case ok(warnings: [Diagnostic])
  case failed([Diagnostic])
}
