import Gateway
import Glibc

let program = Program(gateway: Turnout(), environment: { name in getenv(name).map { String(cString: $0) } })
exit(program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
