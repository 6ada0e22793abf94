import Bytes
import EventLoops
import Migration

extension RouteJSON {
  /// Callers of one face that are told.
  private static let mostCallers = 20

  /// Who calls each face of a route, most calls first: `{"rest": [{"agent", "version", "requests", "last_seen"}], "rpc":
  /// […], "calls": {"rest": N, "rpc": N}}`. The calls are all of the face's, since the start.
  var callers: JSONValue {
    let tables = shared.callers.tables(of: route.name)
    return [
      "rest": Self.json(CallerTable.merged(tables.map(\.rest), most: Self.mostCallers)),
      "rpc": Self.json(CallerTable.merged(tables.map(\.rpc), most: Self.mostCallers)),
      "calls": [
        "rest": .integer(tables.reduce(0) { $0 + $1.rest.total }),
        "rpc": .integer(tables.reduce(0) { $0 + $1.rpc.total }),
      ],
    ]
  }

  private static func json(_ callers: [CallerCount]) -> JSONValue {
    .array(
      callers.map { count in
        var seen = ByteBuffer()
        WallTime(seconds: count.lastSeen).appendRFC3339(to: &seen)
        return [
          "agent": .string(count.caller.agent), "version": .string(count.caller.version),
          "requests": .integer(count.requests), "last_seen": .string(String(repairing: seen.span)),
        ]
      })
  }
}
