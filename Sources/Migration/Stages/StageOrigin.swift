/// Who changed a stage, when and why.
package struct StageOrigin: Sendable, Equatable {
  /// What kind of thing did it.
  package enum Kind: String, Sendable, CaseIterable {
    /// The configuration, at a reload.
    case file
    /// Somebody at the admin endpoint: the command line, the page, a script.
    case admin
    case `guard`
    case ramp
    /// Another replica.
    case peer
  }

  package var kind: Kind
  /// An address, or the name of a replica; may be empty.
  package var actor: String
  /// May be empty.
  package var reason: String
  /// Nanoseconds since 1970.
  package var at: Int64
  /// What is known of who asked at the admin endpoint, for the audit log of the process that was asked.
  package var client: Client?

  /// Who asked at the admin endpoint.
  package struct Client: Sendable, Equatable {
    /// What it calls itself.
    package var agent: String
    /// Whether it showed the admin token.
    package var showedToken: Bool

    package init(agent: String, showedToken: Bool) {
      self.agent = agent
      self.showedToken = showedToken
    }
  }

  package init(_ kind: Kind, actor: String = "", reason: String = "", at: Int64) {
    self.kind = kind
    self.actor = actor
    self.reason = reason
    self.at = at
  }
}

/// One change of a route: a line of the audit log, an entry of the route's history.
package struct StageChangeRecord: Sendable, Equatable {
  package enum Action: String, Sendable {
    case moved
    /// A ramp was stopped, or let go on; the stage is as it was.
    case held
    case released
  }

  /// `pkg.Service/Method`.
  package var procedure: String
  package var from: StageSetting
  package var to: StageSetting
  package var origin: StageOrigin
  package var action: Action

  package init(
    procedure: String, from: StageSetting, to: StageSetting, origin: StageOrigin, action: Action = .moved
  ) {
    self.procedure = procedure
    self.from = from
    self.to = to
    self.origin = origin
    self.action = action
  }
}
