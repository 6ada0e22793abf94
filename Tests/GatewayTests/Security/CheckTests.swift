import Diagnostics
import EventLoopsTestSupport
import Testing
import TransportSecurityTestSupport

@testable import Gateway

/// What `turnout check` says of certificates and keys.
@Suite struct TLSCheckTests {
  let authority: TestAuthority
  let folder: TemporaryFolder

  init() throws {
    authority = try TestAuthority()
    folder = try TemporaryFolder()
  }

  private func check(_ listener: String, upstream: String = "") throws -> [String] {
    let yaml = """
      listeners: [{ address: 127.0.0.1:0, tls: { \(listener) } }]
      upstreams: { legacy: { protocol: rest, endpoints: ["https://a.test"], tls: { \(upstream) } } }
      fallback: legacy

      """
    try folder.write(yaml, to: "turnout.yaml")
    return Turnout().check(configPath: folder.file("turnout.yaml")).map { fault in
      "\(fault.position.line): \(fault.severity): \(fault.message)"
    }
  }

  @Test func whatIsFineIsFine() throws {
    let files = try authority.issue("a", for: ["DNS:a.test"])
    let pair = "certificate: \(files.certificate), key: \(files.key)"
    #expect(try check("\(pair), client_ca: \(authority.file)", upstream: "ca: \(authority.file), \(pair)") == [])
  }

  @Test func eachFaultHasItsFile() throws {
    let a = try authority.issue("a", for: ["DNS:a.test"])
    let b = try authority.issue("b", for: ["DNS:b.test"])
    let junk = try authority.write("junk", to: "junk.pem")
    #expect(
      try check("certificate: \(a.certificate), key: \(b.key), client_ca: \(junk)", upstream: "ca: /nowhere.pem") == [
        "1: error: the key \(b.key) cannot be used: it is not the key of the certificate in \(a.certificate); "
          + "name the key that the certificate was made for",
        "1: error: the client CA \(junk) cannot be used: it holds no PEM certificate",
        "2: error: the CA /nowhere.pem cannot be used: it cannot be read: no such file or directory",
      ])
  }

  @Test func expiredIsAWarning() throws {
    let files = try authority.issue("a", for: ["DNS:a.test"], validity: -7200 ... -3600)
    let found = try check("certificate: \(files.certificate), key: \(files.key)")
    #expect(found.count == 1)
    let expected = "1: warning: the certificate \(files.certificate): its certificate is out of time"
    #expect(found.first?.hasPrefix(expected) == true)
  }

  @Test func whatIsHiddenStaysHidden() throws {
    let files = try authority.issue("a", for: ["DNS:a.test"])
    try folder.write("\(authority.folder)/hidden.pem", to: "name")
    let found = try check("certificate: \"${file:name}\", key: \(files.key)")
    #expect(found == ["1: error: the certificate cannot be used: it cannot be read: no such file or directory"])
    let locked = try authority.encryptedKey("locked.key", passphrase: "sesame")
    let other = try check("certificate: \(files.certificate), key: \(locked)")
    #expect(other.count == 1)
    #expect(other.first?.contains("its private key is encrypted") == true)
    #expect(other.first?.contains("sesame") == false)
  }
}
