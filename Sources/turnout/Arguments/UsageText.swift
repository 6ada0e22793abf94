/// The manual that the program carries.
enum UsageText {
  static let overview = """
    turnout: a gateway between REST and Connect, gRPC and gRPC-Web, one route at a time

    With a configuration:

      turnout serve --config FILE     run in the foreground; SIGTERM drains and exits, SIGHUP reloads
      turnout check --config FILE     validate everything and name every fault with its place and cure
      turnout routes --config FILE [--json]
                                      the route table
      turnout explain --config FILE METHOD TARGET [-H 'name: value']... [--data BODY] [--stage STAGE | ADMIN]
                                      what a request would become, and why; no call is made

    With a running gateway, of which ADMIN is [--admin URL] [--ca FILE]:

      turnout routes ADMIN [--json]   its route table
      turnout stage PROCEDURE STAGE [--percent N] [--reason TEXT] [ADMIN]
                                      move a route at run time
      turnout stage PROCEDURE --clear [--reason TEXT] [ADMIN]
                                      back to the stage of the file
      turnout hold PROCEDURE [--off] [--reason TEXT] [ADMIN]
                                      stop the ramp of a route, or let it go on
      turnout status [--watch] [--json] [ADMIN]
                                      how far the move has come, a line for each route
      turnout report [ADMIN]          the same as Markdown, with what to do next

    By themselves:

      turnout demo [--bug]            the gateway before two embedded demo backends
      turnout help [COMMAND]          this text, or one command's with all its options
      turnout --version               the version

    Exit codes: 0 done, 1 failed, with the reason on standard error, 2 wrong usage.

    """

  static func text(of command: CommandName?) -> String {
    switch command {
    case nil, .help: overview
    case .serve: serve
    case .check: check
    case .routes: routes
    case .explain: explain
    case .stage: stage
    case .hold: hold
    case .status: status
    case .report: report
    case .demo: demo
    }
  }

  /// One line after a usage error.
  static func hint(for command: CommandName?) -> String {
    guard let command, command != .help else { return "turnout help lists the commands" }
    return String(text(of: command).prefix { $0 != "\n" })
  }

  /// Of the commands that ask a running gateway.
  private static let admin = """
      --admin URL     the admin endpoint, http or https (Default: http://127.0.0.1:9901)
      --ca FILE       with https: the authority of its certificate (Default: those of this machine)

    The token, if the endpoint wants one, is read from the environment variable TURNOUT_ADMIN_TOKEN.
    """

  private static let running = """
      --admin URL     the admin endpoint of the gateway, http or https, in place of --config
      --ca FILE       with https: the authority of its certificate (Default: those of this machine)

    The token, if the endpoint wants one, is read from the environment variable TURNOUT_ADMIN_TOKEN.
    """

  private static let asked = """
      --admin URL     the admin endpoint whose stages count, http or https (Default: the file's stages)
      --ca FILE       with https: the authority of its certificate (Default: those of this machine)

    The token, if the endpoint wants one, is read from the environment variable TURNOUT_ADMIN_TOKEN.
    """

  private static let adminCodes = """
    Exit codes: 0 done, 1 the gateway cannot be reached or refuses, 2 wrong usage.
    """

  private static let serve = """
    usage: turnout serve --config FILE

    Runs the gateway in the foreground. SIGTERM and SIGINT stop accepting, let running requests finish within
    `drain` and exit 0. SIGHUP, a change of the file and POST /reload read the configuration anew; a faulty one
    leaves the old one serving. SIGUSR1 reopens log files. What is listened on is logged at start.

      --config FILE   the configuration; config/reference.yaml has every key

    Exit codes: 0 drained and ended, 1 a faulty configuration or an address that is taken, 2 wrong usage.

    """

  private static let check = """
    usage: turnout check --config FILE

    Reads the configuration, its includes and its schema and compiles every route. Nothing is opened and nobody is
    called. Each fault is a line on standard error: file:line:column: error: what; the cure. Warnings do not fail.

      --config FILE   the configuration

    Exit codes: 0 all is well, 1 there are errors, 2 wrong usage.

    """

  private static let routes = """
    usage: turnout routes --config FILE [--json]
           turnout routes --admin URL [--ca FILE] [--json]

    Prints each route with its stage, its REST bindings and the upstreams of its two sides: as the file has them, or
    as a running gateway does, whose stages may be others by now.

      --config FILE   the configuration
      --json          for machines
    \(running)

    Exit codes: 0 done, 1 a faulty configuration, or no answer, 2 wrong usage.

    """

  private static let explain = """
    usage: turnout explain --config FILE METHOD TARGET [-H 'name: value']... [--data BODY] [--stage STAGE]
           turnout explain --config FILE METHOD TARGET ... [--admin URL] [--ca FILE]

    Prints the route that this request matches, the values that are bound and from where, which side its stage chooses,
    who is asked besides, and the request that would go upstream. No upstream is called. TARGET is the path, with its
    query. The stages are those of the file, or with --admin those of a running gateway, which is asked for them and for
    nothing else; or with --stage one that no route may have yet.

      --config FILE   the configuration
      -H FIELD        a header field as 'name: value'; may be repeated
      --data BODY     the body; without a content-type it is JSON. Of an RPC call it is the message in JSON, whatever
                      the codec of its content-type (Default: none)
      --stage STAGE   as if every route were in rest, shadow, canary or rpc
    \(asked)

    Exit codes: 0 explained, whatever would become of the request, 1 a faulty configuration, or no answer, 2 wrong usage.

      turnout explain --config turnout.yaml GET '/v1/episodes:search?query=steam'
      turnout explain --config turnout.yaml POST /content.v1.ContentService/GetEpisode --data '{"id":"e2"}' \\
        -H 'content-type: application/grpc'

    """

  private static let stage = """
    usage: turnout stage PROCEDURE STAGE [--percent N] [--reason TEXT] [--admin URL] [--ca FILE]
           turnout stage PROCEDURE --clear [--reason TEXT] [--admin URL] [--ca FILE]

    Moves a route of the running gateway: PROCEDURE is pkg.Service/Method, STAGE is rest, shadow, canary or rpc. With
    'pkg.Service/*' all routes of a service: it lists them, then changes one after the other. The next request follows it.
    It stays until the file says another stage than it said before, or until it is cleared; and it clears what a guard
    did. To stop a ramp where it is, see `turnout help hold`.

      --percent N     the share of stage canary, 0 to 100 with at most two decimals (Default: that of the file)
      --clear         ends what was set at run time: the file counts again
      --reason TEXT   for the history and the log
    \(admin)

    \(adminCodes)

      turnout stage content.v1.ContentService/GetRanking canary --percent 5
      turnout stage content.v1.ContentService/GetRanking --clear --reason 'the file has it now'
      turnout stage 'content.v1.ContentService/*' rest --reason 'errors since 3:00'

    """

  private static let hold = """
    usage: turnout hold PROCEDURE [--off] [--reason TEXT] [--admin URL] [--ca FILE]

    Stops the ramp of a route of the running gateway at its present share. Its guard goes on watching. A route without a
    ramp is refused.

      --off           lets the ramp go on
      --reason TEXT   for the history and the log
    \(admin)

    \(adminCodes)

      turnout hold content.v1.ContentService/GetRanking --reason 'release freeze'

    """

  private static let status = """
    usage: turnout status [--watch] [--json] [--admin URL] [--ca FILE]

    Prints what the page of the admin endpoint shows: how many routes have moved, and of each its stage, calls per
    second, error rates and 95th percentiles of both sides, how many answers differ, and what its guard says. The table
    is fitted to the terminal; colours are left out where there is none, and with NO_COLOR.

      --watch         again every two seconds, until it is ended
      --json          what the admin endpoint says at /routes, a line each time
    \(admin)

    \(adminCodes)

    """

  private static let report = """
    usage: turnout report [--admin URL] [--ca FILE]

    Prints the state of the move as Markdown: how many routes have moved, a table of them, where answers differ, who
    still calls the REST face of moved routes, and what to do next with each route.

    \(admin)

    \(adminCodes)

      turnout report > move.md

    """

  private static let demo = """
    usage: turnout demo [--bug]

    Runs the gateway before two embedded backends of a small video app: a legacy REST service and a Connect service
    that answer the same data. Some routes are still in stage rest, some in rpc. Prints five curl lines to try.
    Nothing stays behind: the files it writes go with it. End it with Ctrl-C.

      --bug           the new service has two faults, for shadow and guard to find; POST /mend there mends them

    Exit codes: 0 ended, 1 it could not be started, 2 wrong usage.

    """
}
