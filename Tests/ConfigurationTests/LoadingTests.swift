import Diagnostics
import Testing

@testable import Configuration

/// What comes out of a file that is right.
@Suite struct LoadingTests {
  static let file = "/etc/turnout/turnout.yaml"
  static let base = """
    listeners: [ { address: 127.0.0.1:0 }, { address: "[::1]:8080" } ]
    schema: [ { descriptor_set: content.binpb }, { protos: [a/b.proto], import_paths: [proto, /usr/include] } ]
    upstreams:
      legacy: { protocol: rest, endpoints: ["http://10.0.0.2:8081", "http://old"] }
      content: { protocol: connect, codec: json, endpoints: ["http://[::1]:8082"], connect_timeout: 250ms }

    """

  func load(_ text: String, environment: [String: String] = [:]) throws -> GatewayConfiguration {
    let (configuration, diagnostics) = ConfigurationLoader.load(
      text: text, file: Self.file, environment: { environment[$0] })
    #expect(diagnostics == [])
    return try #require(configuration)
  }

  @Test func readsListenersSchemaAndUpstreams() throws {
    let got = try load(Self.base)
    #expect(got.file == Self.file)
    #expect(got.watchedFiles == [Self.file])
    #expect(got.listeners.map(\.address.text) == ["127.0.0.1:0", "[::1]:8080"])
    #expect(got.listeners.last?.address.position == SourcePosition(file: Self.file, line: 1, column: 51))
    #expect(
      got.schema.map(\.source) == [
        .descriptorSet(path: "/etc/turnout/content.binpb"),
        .protos(files: ["a/b.proto"], importPaths: ["/etc/turnout/proto", "/usr/include"]),
      ])
    #expect(got.schema.map(\.position.line) == [2, 2])
    #expect(got.upstreams.map(\.name) == ["legacy", "content"])
    #expect(got.upstreams.map(\.protocol) == [.rest, .connect])
    #expect(got.upstreams.first?.endpoints.map(\.authority) == ["10.0.0.2:8081", "old"])
    #expect(got.upstreams.last?.codec == .json)
    #expect(got.upstreams.last?.connectTimeout == .milliseconds(250))
    #expect(got.upstreams.last?.position == SourcePosition(file: Self.file, line: 5, column: 3))
  }

  @Test func protosAreFoundBesideTheFileThatNamesThem() throws {
    let got = try load("listeners: [ { address: 127.0.0.1:0 } ]\nschema: [ { protos: [a.proto] } ]\n")
    #expect(got.schema.map(\.source) == [.protos(files: ["a.proto"], importPaths: ["/etc/turnout"])])
  }

  @Test func aMethodOverridesItsServiceKeyByKey() throws {
    let got = try load(
      Self.base + """
        services:
          a.v1.Alpha:
            rest: legacy
            rpc: content
            stage: shadow
            hosts: [API.Example.com]
            prefix: /api
            envelope: data
            timeout: 3s
            json: { int64: number, emit_defaults: true, timestamps: unix_ms }
            query: { unknown: ignore, ignore: [a] }
            errors: { format: problem }
            shadow: { sample: 12.5%, max_body: 1KiB }
            compression: off
            stream: array
            methods:
              One: {}
              Two:
                stage: rpc
                json: { int64: string }
                query: { ignore: [b, c*] }
                shadow: { sample: 1% }
                prefix: /b
                success_status: 201
                compression: "on"
                stream: sse
        """)
    let service = try #require(got.services.first)
    let one = try #require(service.methods.first)
    let two = try #require(service.methods.last)
    #expect(one.settings.stage == .shadow)
    #expect(one.settings.hosts == ["api.example.com"])
    #expect(one.settings.json == service.settings.json)
    #expect(one.settings.stagePosition == SourcePosition(file: Self.file, line: 10, column: 12))
    #expect(!one.settings.compression.isOn)
    #expect(two.settings.stage == .rpc)
    #expect(two.settings.stagePosition.line == 24)
    #expect(two.settings.rest?.name == "legacy")
    #expect(two.settings.rest?.position.line == 8)
    #expect(two.settings.json.int64 == .string)
    #expect(two.settings.json.emitDefaults)
    #expect(two.settings.json.timestamps == .unixMilliseconds)
    #expect(two.settings.query.ignoresUnknown)
    #expect(two.settings.query.ignore == ["b", "c*"])
    #expect(two.settings.errors.format == .problem)
    #expect(two.settings.shadow.sample == 100)
    #expect(two.settings.shadow.maxBody == 1024)
    #expect(two.settings.prefix == "/b")
    #expect(two.settings.envelope == "data")
    #expect(two.settings.timeout == .seconds(3))
    #expect(two.settings.successStatus == 201)
    #expect(two.settings.compression.isOn)
    #expect(one.settings.stream == .array)
    #expect(two.settings.stream == .sse)
    #expect(service.settings.shadow.sample == 1_250)
  }

  @Test func aMethodLaysItsFallbackOverItsServices() throws {
    let got = try load(
      Self.base + """
        services:
          a.v1.Alpha:
            rest: legacy
            rpc: content
            fallback: { max_body: 1KiB }
            methods:
              Same: {}
              Off: { fallback: false }
              Unsafe: { fallback: { unsafe: true } }
        """)
    let service = try #require(got.services.first)
    #expect(service.settings.fallback.isOn && !service.settings.fallback.unsafe)
    let found = service.methods.map(\.settings.fallback)
    #expect(found.map(\.isOn) == [true, false, true] && found.map(\.unsafe) == [false, false, true])
    #expect(found.allSatisfy { $0.maxBody == 1024 })
    #expect(found[0].position == service.settings.fallback.position)
    #expect(found.map(\.position?.line) == [service.settings.fallback.position?.line, 13, 14])
  }

  @Test func readsHTTPRules() throws {
    let got = try load(
      Self.base + """
        services:
          a.v1.Alpha:
            rest: legacy
            methods:
              One:
                http:
                  patch: /v1/{x=a/*}
                  body: "*"
                  response_body: y
                  additional_bindings: [ { custom: { kind: PURGE, path: /v1/p } }, { delete: /v1/d } ]
        """)
    let rule = try #require(got.services.first?.methods.first?.http)
    #expect(rule.method == "PATCH")
    #expect(rule.path == "/v1/{x=a/*}")
    #expect(rule.position == SourcePosition(file: Self.file, line: 12, column: 18))
    #expect(rule.body == "*")
    #expect(rule.bodyPosition?.line == 13)
    #expect(rule.responseBody == "y")
    #expect(rule.responseBodyPosition?.line == 14)
    #expect(rule.additionalBindings.map(\.method) == ["PURGE", "DELETE"])
    #expect(rule.additionalBindings.map(\.path) == ["/v1/p", "/v1/d"])
  }

  @Test func putsValuesInAndKnowsThemAsSecrets() throws {
    let got = try load(
      """
      listeners: [ { address: "127.0.0.1:${env:PORT}" } ]
      admin: { address: "0.0.0.0:1", token: "a${env:TOKEN}b" }
      upstreams: { one: { protocol: rest, endpoints: ["http://${env:HOST}", "http://open"] } }
      services: {}
      """, environment: ["PORT": "77", "TOKEN": "${env:PORT}$", "HOST": "inner"])
    #expect(got.listeners.map(\.address.port) == [77])
    #expect(got.admin?.token == "a${env:PORT}$b")
    #expect(got.upstreams.first?.endpoints.map(\.isSecret) == [true, false])
    #expect(got.secrets.isSuperset(of: ["77", "${env:PORT}$", "inner", "a${env:PORT}$b", "http://inner"]))
  }

  @Test func aDoubledDollarIsText() throws {
    let got = try load(
      Self.base + "services: { a.B: { rest: legacy, envelope: \"$${x} $a $\" } }")
    #expect(got.services.first?.settings.envelope == "${x} $a $")
    #expect(got.secrets.isEmpty)
  }

  @Test func readsAFileOnTheDisk() throws {
    let path = GoldenTests.folder + "/parts/upstreams.yaml"
    let (configuration, diagnostics) = ConfigurationLoader.load(path: path)
    #expect(configuration == nil)
    #expect(diagnostics.map(\.what) == ["the configuration needs `listeners`"])
    #expect(diagnostics.map(\.position.file) == [path])
  }

  @Test(arguments: [
    ("gone.yaml", "no such file or directory"), ("parts", "it is not a file (a folder, a pipe or a device)"),
  ])
  func saysWhyAFileCannotBeRead(_ name: String, _ reason: String) {
    let path = GoldenTests.folder + "/" + name
    let (configuration, diagnostics) = ConfigurationLoader.load(path: path)
    #expect(configuration == nil)
    #expect(
      diagnostics.map(\.description) == [
        "\(path):1:1: error: the file cannot be read: \(reason); name an existing file"
      ])
  }

  @Test func watchesEveryFileThatWasRead() throws {
    let folder = GoldenTests.folder
    let (configuration, diagnostics) = ConfigurationLoader.load(
      text: """
        include: ["parts/upstreams.yaml", "parts/up*.yaml"]
        listeners: [ { address: 127.0.0.1:0 } ]
        admin: { address: 127.0.0.1:0, token: "${file:parts/secret.txt}" }
        """, file: folder + "/turnout.yaml")
    #expect(diagnostics == [])
    #expect(configuration?.admin?.token == "file-secret")
    #expect(
      configuration?.watchedFiles
        == ["turnout.yaml", "parts/upstreams.yaml", "parts/secret.txt"].map { "\(folder)/\($0)" })
  }

  @Test func aPatternSkipsTheFileItself() throws {
    let path = ReferenceTests.config + "/turnout.yaml"
    let text = "include: [\"turnout*.yaml\"]\nlisteners: [ { address: 127.0.0.1:0 } ]\n"
    let (configuration, diagnostics) = ConfigurationLoader.load(text: text, file: path)
    #expect(diagnostics == [])
    #expect(configuration?.upstreams.isEmpty == true)
  }

  @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1"])
  func knowsLoopback(_ host: String) {
    let place = SourcePosition(file: "f", line: 1, column: 1)
    #expect(SocketAddressConfiguration(host: host, port: 1, position: place).isLoopback)
    #expect(!SocketAddressConfiguration(host: "10.0.0.1", port: 1, position: place).isLoopback)
  }
}
