import Diagnostics
import EventLoops
import Gateway
import ProtobufSchema

/// The two embedded services, listening.
struct DemoBackends {
  let legacy: LocalServer
  let connect: LocalServer

  /// Starts both, on ports 8081 and 8082 where these are free.
  ///
  /// - Parameters:
  ///   - folder: where the `.proto` files are.
  ///   - hasBugs: whether the new service has faults to be found.
  init(protosIn folder: String, hasBugs: Bool) throws(ProgramError) {
    let place = SourcePosition(file: "\(folder)/turnout.yaml", line: 1, column: 1)
    let (schema, diagnostics) = SchemaLoader.load([
      .protos(files: ["content.proto", "comment.proto"], importPaths: [folder], position: place)
    ])
    guard let schema else { throw ProgramError(diagnostics.first.map { "\($0)" } ?? "the demo's schema is faulty") }
    let store = DemoStore()
    let rest = LegacyBackend(store: store)
    let rpc = ConnectBackend(store: store, schema: schema, bugs: DemoBugs(isThere: hasBugs))
    legacy = try Self.serve(8081, "demo-rest") { rest.respond(to: $0) }
    connect = try Self.serve(8082, "demo-connect") { rpc.respond(to: $0) }
  }

  /// Ends both and waits for their threads.
  func stop() {
    for server in [legacy, connect] {
      server.stop()
      server.join()
    }
  }

  private static func serve(
    _ port: UInt16, _ name: String, _ handler: @escaping @Sendable (LocalRequest) -> LocalResponse
  ) throws(ProgramError) -> LocalServer {
    do throws(SystemError) {
      let failed: @Sendable (String) -> Void = { Console.standard.error("turnout: \($0)\n") }
      if let preferred = try? LocalServer(address: loopback(port), name: name, failed: failed, handler: handler) {
        return preferred
      }
      return try LocalServer(address: loopback(0), name: name, failed: failed, handler: handler)
    } catch {
      throw ProgramError("the demo's backend cannot listen: \(error)")
    }
  }

  /// A port of 127.0.0.1.
  static func loopback(_ port: UInt16) throws(SystemError) -> SocketAddress {
    guard let address = SocketAddress(host: "127.0.0.1", port: port) else {
      throw SystemError(call: "inet_pton", code: 0)
    }
    return address
  }

  /// The port if nobody listens at it, else 0 for any.
  static func free(_ port: UInt16) -> UInt16 {
    guard let address = try? loopback(port), (try? ListeningSocket(address: address, backlog: 1)) != nil else {
      return 0
    }
    return port
  }
}
