import Diagnostics
import Gateway

/// `turnout stage 'pkg.Service/*' STAGE`: the routes of a service one after the other, each said, whatever becomes of the
/// others.
extension Program {
  static let allMethods = "/*"

  func stageAll(_ arguments: StageArguments) -> ExitCode {
    let change = arguments.change
    let share = change.percent.map { " \(Figures.decimal($0, digits: 2)) %" } ?? ""
    let target = change.stage + share
    return all(of: arguments.procedure, arguments.admin, to: target) { route in
      // The share of a canary without a number is that of the file, which nobody here knows.
      // What a guard did is undone by a change, also to the stage that it chose.
      route.effective.text == target && route.trip?.state != "tripped"
        && (change.stage != "canary" || change.percent != nil)
    } change: { procedure in
      var one = arguments
      one.procedure = procedure
      return stage(one)
    }
  }

  func clearAll(_ arguments: ClearArguments) -> ExitCode {
    let target = "as the file says"
    return all(of: arguments.procedure, arguments.admin, to: target) {
      $0.override == nil && $0.trip?.state != "tripped" && $0.effective == $0.configured
    } change: { procedure in
      var one = arguments
      one.procedure = procedure
      return clearStage(one)
    }
  }

  /// - Parameters:
  ///   - pattern: `pkg.Service/*`.
  ///   - isDone: whether a route needs no change.
  ///   - change: changes one, and says so.
  private func all(
    of pattern: String, _ admin: AdminURL, to target: String, isDone: (RouteStatus) -> Bool,
    change: (String) -> ExitCode
  ) -> ExitCode {
    let service = String(pattern.dropLast(Self.allMethods.count))
    let known: [RouteStatus]
    do throws(ProgramError) {
      known = try status(of: admin).routes
    } catch {
      return report(.other(error.message))
    }
    let routes = known.filter { $0.service == service }
    guard !routes.isEmpty else {
      let near = Nearest.match(service, in: Array(Set(known.map(\.service))).sorted())
      return report(.other("there is no route of \(service)" + (near.map { "; did you mean \($0)/*?" } ?? "")))
    }
    let (still, moving) = (routes.filter(isDone), routes.filter { !isDone($0) })
    console.out("\(routes.count) \(routes.count == 1 ? "route" : "routes") of \(service), \(moving.count) to change\n")
    for route in moving { console.out("  \(route.method): \(route.effective.text) -> \(target)\n") }
    for route in still { console.out("  \(route.method): \(route.effective.text) already\n") }
    let failed = moving.filter { change($0.procedure) != .done }
    if failed.isEmpty { return .done }
    let names = failed.map(\.method).joined(separator: ", ")
    return report(.other("\(failed.count) of \(moving.count) routes failed: \(names)"))
  }
}

extension RouteStatus {
  fileprivate var service: String {
    procedure.lastIndex(of: "/").map { String(procedure[..<$0]) } ?? procedure
  }
}
