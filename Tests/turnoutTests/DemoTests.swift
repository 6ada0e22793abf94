import Configuration
import EventLoops
import Gateway
import Glibc
import Synchronization
import Testing

@testable import turnout

@Suite struct DemoTests {
  static func contents(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = fread(&room, 1, room.count, file)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += room[..<count]
    }
  }

  @Test func portsAreReplacedAllAtOnce() {
    let text = Program.configuration(gateway: 8081, admin: 0, legacy: 8082, connect: 9901)
    #expect(text.contains("- address: 127.0.0.1:8081\n"))
    #expect(text.contains("admin: { address: 127.0.0.1:0 }"))
    #expect(text.contains(#"legacy: { protocol: rest, endpoints: ["http://127.0.0.1:8082"] }"#))
    #expect(text.contains(#"endpoints: ["http://127.0.0.1:9901"] }"#))
    #expect(!text.contains("<"))
    let same = Program.configuration(gateway: 8080, admin: 9901, legacy: 8081, connect: 8082)
    #expect(same == DemoFiles.configuration)
  }

  @Test func theConfigurationLoads() throws {
    let (loaded, diagnostics) = ConfigurationLoader.load(text: DemoFiles.configuration, file: "turnout.yaml")
    #expect(diagnostics == [])
    let configuration = try #require(loaded)
    #expect(configuration.listeners.map(\.address.port) == [8080])
    #expect(configuration.admin?.address.port == 9901)
    let stages = configuration.services.flatMap { service in
      service.methods.map { ("\(service.service.name)/\($0.method.name)", $0.settings.stage) }
    }
    #expect(stages.allSatisfy { DemoMethod(rawValue: $0.0) != nil })
    #expect(Set(stages.map(\.1)) == [.rest, .rpc])
    let anyPorts = Program.configuration(gateway: 0, admin: 0, legacy: 41_000, connect: 41_001)
    #expect(ConfigurationLoader.load(text: anyPorts, file: "turnout.yaml").diagnostics == [])
  }

  @Test func runsTheGatewayOnFilesThatGoWithIt() throws {
    let seen = Mutex<(path: String, protos: [String?], configuration: String?)>(("", [], nil))
    var gateway = ScriptedGateway()
    gateway.onServe = { path, started in
      let folder = path.dropLast("turnout.yaml".count)
      let protos = DemoFiles.protos.map { Self.contents(of: folder + $0.name) }
      seen.withLock { $0 = (path, protos, Self.contents(of: path)) }
      if let address = SocketAddress(host: "127.0.0.1", port: 4_321) {
        started(ServedAddresses(listeners: [address], admin: address))
      }
      return .success(())
    }
    let captured = Captured()
    #expect(captured.run(["demo"], on: gateway) == 0, "\(captured.error)")
    let (path, protos, configuration) = seen.withLock { $0 }
    #expect(protos == DemoFiles.protos.map(\.text))
    #expect(configuration?.contains("services:\n") == true)
    #expect(Self.contents(of: path) == nil)
    #expect(captured.out.ranges(of: "curl -i ").count == 5)
    #expect(captured.out.contains("curl -i 'http://127.0.0.1:4321/v1/tags:featured'"))
    #expect(captured.out.contains("http://127.0.0.1:4321/routes/pivot.content.v1.ContentService/GetEpisode/stage"))
  }

  @Test func aGatewayThatFailsIsReportedAndLeavesNothing() {
    let path = Mutex("")
    var gateway = ScriptedGateway()
    gateway.onServe = { config, _ in
      path.withLock { $0 = config }
      return .failure(.other("no"))
    }
    let captured = Captured()
    #expect(captured.run(["demo"], on: gateway) == 1)
    #expect(captured.error == "turnout: no\n")
    #expect(Self.contents(of: path.withLock { $0 }) == nil)
  }
}
