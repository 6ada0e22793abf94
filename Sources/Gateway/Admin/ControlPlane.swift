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
  /// The last changes of stages, of all routes, and the last reloads, newest first, as JSON.
  func audit() -> [UInt8]
  /// Which configuration serves, what was wrong with it, and what came of the last reload, as JSON.
  func config() -> [UInt8]
  /// One route as it stands in ``routes()``.
  ///
  /// - Parameter procedure: `pkg.Service/Method`, without a leading slash. So for those below.
  func route(_ procedure: String) -> Result<[UInt8], ControlError>
  /// The samples of one route: calls whose two answers differed, newest first.
  func samples(_ procedure: String) -> Result<[UInt8], ControlError>
  /// Sets the stage of one route until the file says a new one, or until it is cleared.
  ///
  /// - Parameter actor: who asks, for the history and the log. So for those below.
  /// - Returns: the route as JSON. So for those below.
  func setStage(_ procedure: String, _ change: StageChange, actor: AdminActor) -> Result<[UInt8], ControlError>
  /// Ends what was set at run time: back to what the file says.
  func clearStage(_ procedure: String, reason: String, actor: AdminActor) -> Result<[UInt8], ControlError>
  /// Stops a route's ramp or lets it go on.
  func hold(_ procedure: String, _ change: HoldChange, actor: AdminActor) -> Result<[UInt8], ControlError>
  /// Reads the configuration anew and publishes it; a faulty one leaves the old one serving.
  ///
  /// - Returns: nil when it takes too long to wait for: it goes on.
  func reload(actor: AdminActor) -> ReloadOutcome?
  /// Somebody asked for a reload who may not: for the audit.
  ///
  /// - Parameter reason: what was said to that.
  func refusedReload(actor: AdminActor, reason: String)
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
  /// With the warnings that the configuration gave besides.
  case failed([Diagnostic])
}
