import Gateway
import Glibc

let program = Program(gateway: Turnout(), environment: { name in getenv(name).map { String(cString: $0) } })
let code = program.run(Array(CommandLine.arguments.dropFirst()))
// Not `exit`: a reload that a slow disk holds up may run on in another thread, and what libraries do at exit would take
// from under it what it uses: the process could crash at its very end. All that is to be written is written by now.
_exit(code.rawValue)
