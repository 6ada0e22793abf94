import Gateway
import Glibc
import HTTPModel
import JSONValues

extension Program {
  func status(_ arguments: StatusArguments) -> ExitCode {
    do throws(ProgramError) {
      let client = try adminClient(arguments.admin)
      try show(client, arguments)
      while arguments.isWatching {
        sleep(2)
        do throws(ProgramError) {
          try show(client, arguments)
        } catch {
          // The gateway may be on its way back; whoever watches wants to see that.
          console.error("turnout: \(error.message)\n")
        }
      }
      return .done
    } catch {
      return report(.other(error.message))
    }
  }

  func report(_ admin: AdminURL) -> ExitCode {
    do throws(ProgramError) {
      console.out(MarkdownReport.text(of: try status(of: admin)))
      return .done
    } catch {
      return report(.other(error.message))
    }
  }

  /// What `/routes` says.
  func status(of admin: AdminURL) throws(ProgramError) -> GatewayStatus {
    try Self.status(in: try adminClient(admin).answer(.get, "/routes"), of: admin)
  }

  private func show(_ client: AdminClient, _ arguments: StatusArguments) throws(ProgramError) {
    let answer = try client.answer(.get, "/routes")
    if arguments.isJSON {
      console.out(String(decoding: answer, as: UTF8.self) + "\n")
      return
    }
    let status = try Self.status(in: answer, of: arguments.admin)
    let isTerminal = isatty(STDOUT_FILENO) == 1
    let noColor = environment("NO_COLOR").map { !$0.isEmpty } ?? false
    let table = StatusTable(
      width: isTerminal ? Self.terminalWidth : environment("COLUMNS").flatMap { Int($0) }.map { max(40, $0) },
      hasColors: isTerminal && !noColor && environment("TERM") != "dumb")
    // From the top of a screen that is cleared, so that what changes stays in its place.
    let clear = arguments.isWatching && isTerminal ? "\u{1B}[H\u{1B}[2J" : ""
    console.out(clear + table.text(of: status))
  }

  private static func status(in answer: [UInt8], of admin: AdminURL) throws(ProgramError) -> GatewayStatus {
    guard let json = try? JSONValue(parsing: answer), let status = GatewayStatus(json) else {
      throw ProgramError("the answer of \(admin.text) is no route table")
    }
    return status
  }

  private static var terminalWidth: Int? {
    // struct winsize: rows, columns, and two that nobody uses (ioctl_tty(2)).
    var size: [UInt16] = [0, 0, 0, 0]
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size[1] > 0 else { return nil }
    return max(40, Int(size[1]))
  }
}
