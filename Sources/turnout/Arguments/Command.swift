import Gateway

/// What the arguments ask for.
enum Command: Sendable, Equatable {
  case serve(config: String)
  case check(config: String)
  case routes(config: String, asJSON: Bool)
  /// Of a running gateway.
  case runningRoutes(admin: AdminURL, asJSON: Bool)
  case explain(ExplainArguments)
  case stage(StageArguments)
  case clearStage(ClearArguments)
  case hold(HoldArguments)
  case status(StatusArguments)
  case report(admin: AdminURL)
  case demo(hasBugs: Bool)
  /// Nil: the overview.
  case help(CommandName?)
  case version
}

enum CommandName: String, Sendable, CaseIterable {
  case serve
  case check
  case routes
  case explain
  case stage
  case hold
  case status
  case report
  case demo
  case help
}

struct ExplainArguments: Sendable, Equatable {
  struct Field: Sendable, Equatable {
    var name: String
    var value: String
  }

  var config: String
  var method: String
  var target: String
  var fields: [Field] = []
  var data: String?
  /// Whose stages count; nil: those of the file.
  var admin: AdminURL?
  /// The one that counts in place of either.
  var stage: String?
}

struct StageArguments: Sendable, Equatable {
  /// `pkg.Service/Method`; all methods of a service: `pkg.Service/*`.
  var procedure: String
  var change: StageChange
  var admin = AdminURL.standard
}

struct StatusArguments: Sendable, Equatable {
  var admin = AdminURL.standard
  /// The answer of the admin endpoint as it is.
  var isJSON = false
  /// Again and again until it is ended.
  var isWatching = false
}

/// `turnout stage PROCEDURE --clear`
struct ClearArguments: Sendable, Equatable {
  /// `pkg.Service/Method`; all methods of a service: `pkg.Service/*`.
  var procedure: String
  var reason = ""
  var admin = AdminURL.standard
}

struct HoldArguments: Sendable, Equatable {
  /// `pkg.Service/Method`.
  var procedure: String
  var change: HoldChange
  var admin = AdminURL.standard
}

/// Wrong usage: exit code 2.
struct UsageError: Error, Sendable, Equatable {
  /// One line without the program's name.
  var message: String
  /// The command whose usage is shown; nil: the overview's.
  var command: CommandName?
}
