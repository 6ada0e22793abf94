import EventLoops
import Gateway

extension Program {
  func demo(hasBugs: Bool, on gateway: any GatewayProgram) -> ExitCode {
    do throws(ProgramError) {
      return try runDemo(hasBugs, on: gateway)
    } catch {
      return report(.other(error.message))
    }
  }

  private func runDemo(_ hasBugs: Bool, on gateway: any GatewayProgram) throws(ProgramError) -> ExitCode {
    let folder = try TemporaryFolder(prefix: "turnout-demo", parent: environment("TMPDIR"))
    defer { folder.remove() }
    for file in DemoFiles.protos { try folder.write(file.text, to: file.name) }
    let backends = try DemoBackends(protosIn: folder.path, hasBugs: hasBugs)
    defer { backends.stop() }
    let config = try folder.write(
      Self.configuration(
        gateway: DemoBackends.free(8080), admin: DemoBackends.free(9901), legacy: backends.legacy.address.port,
        connect: backends.connect.address.port), to: "turnout.yaml")
    let console = console
    let legacy = "http://\(backends.legacy.address.text)"
    let connect = "http://\(backends.connect.address.text)"
    let outcome = gateway.serve(configPath: config) { addresses in
      guard let listener = addresses.listeners.first, let admin = addresses.admin else { return }
      let guide = DemoGuide(
        gateway: "http://\(listener.text)", admin: "http://\(admin.text)", legacy: legacy, connect: connect)
      console.out(guide.text)
    }
    switch outcome {
    case .success: return .done
    case .failure(let failure): return report(failure)
    }
  }

  /// The demo's configuration with the ports that are to be had.
  static func configuration(gateway: UInt16, admin: UInt16, legacy: UInt16, connect: UInt16) -> String {
    let host = "127.0.0.1:"
    var text = DemoFiles.configuration
    // Away from all old numbers first: a new one may be one of them.
    for (old, mark) in [("8080", "<gateway>"), ("9901", "<admin>"), ("8081", "<legacy>"), ("8082", "<connect>")] {
      text.replace(host + old, with: host + mark)
    }
    for (mark, port) in [("<gateway>", gateway), ("<admin>", admin), ("<legacy>", legacy), ("<connect>", connect)] {
      text.replace(host + mark, with: host + "\(port)")
    }
    return text
  }
}
