import Glibc

// The one place where the command line meets the data path.
let program = Program(gateway: nil, environment: { name in getenv(name).map { String(cString: $0) } })
exit(program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
