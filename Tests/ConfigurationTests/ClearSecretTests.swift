import Diagnostics
import Glibc
import Testing

@testable import Configuration

/// Secrets in clear text, in files that others can read.
@Suite struct ClearSecretTests {
  private func warnings(_ line: String, mode: mode_t) -> [String] {
    let path = "/tmp/turnout-clear-secrets-\(getpid())-\(UInt64.random(in: 0 ... .max)).yaml"
    Folder.write(
      "listeners: [ { address: 127.0.0.1:1 } ]\nupstreams: { a: { protocol: rest, endpoints: [ \"http://a\" ] } }\n"
        + "fallback: a\n\(line)\n", to: path)
    defer { unlink(path) }
    chmod(path, mode)
    let (configuration, diagnostics) = ConfigurationLoader.load(path: path)
    #expect(configuration != nil, "\(diagnostics)")
    return diagnostics.map { $0.description.without(path) }
  }

  private static let clear = [
    "admin: { address: 127.0.0.1:2, token: hush }", "interceptors: [ { api_key: { keys: [ hush ] } } ]",
    "interceptors: [ { headers: { request: { set: { authorization: Bearer hush } } } } ]",
  ]

  @Test(arguments: clear) func areWarnedOfWhereEverybodyCanReadThem(line: String) {
    let found = warnings(line, mode: 0o644)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix(":4:") == true)
    #expect(found.first?.contains("warning: a secret stands here in clear text") == true)
    #expect(found.first?.contains("hush") == false)
  }

  @Test(arguments: clear) func areFineWhereTheyCannot(line: String) {
    #expect(warnings(line, mode: 0o640) == [])
  }

  @Test func secretsFromOutsideAreFine() {
    #expect(warnings("admin: { address: 127.0.0.1:2, token: \"${env:PATH}\" }", mode: 0o644) == [])
    #expect(
      warnings("interceptors: [ { headers: { request: { set: { cookie: \"a=${env:PATH}\" } } } } ]", mode: 0o644) == [])
    #expect(warnings("interceptors: [ { headers: { request: { set: { x-app: open } } } } ]", mode: 0o644) == [])
  }
}
