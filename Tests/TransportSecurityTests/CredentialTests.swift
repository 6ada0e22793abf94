import Bytes
import Glibc
import Testing
import TransportSecurityTestSupport

@testable import TransportSecurity

@Suite struct CredentialTests {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  private func fault(_ certificate: String, _ key: String) -> CredentialFault? {
    do throws(CredentialFault) {
      _ = try Identity.load(certificate: certificate, key: key)
      return nil
    } catch {
      return error
    }
  }

  @Test func faultsNameTheFileAndTheReason() throws {
    let files = try authority.issue("a", for: ["DNS:a.example"])
    let other = try authority.issue("b", for: ["DNS:b.example"])
    let missing = "\(authority.folder)/missing.pem"
    let empty = try authority.write("", to: "empty.pem")
    let junk = try authority.write("hello\n", to: "junk.pem")
    let damaged = try authority.write(
      "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmg\n-----END CERTIFICATE-----\n", to: "damaged.pem")
    let damagedKey = try authority.write(
      "-----BEGIN PRIVATE KEY-----\nMIIBszCCAVmg\n-----END PRIVATE KEY-----\n", to: "damaged.key")
    let secret = "correct horse"
    let locked = try authority.encryptedKey("locked.key", passphrase: secret)
    let der = try authority.write("0\u{7}abcdefg", to: "der.pem")

    let cases: [(String, String, String, String)] = [
      (missing, files.key, missing, "it cannot be read: no such file or directory"),
      (files.certificate, missing, missing, "it cannot be read: no such file or directory"),
      (authority.folder, files.key, authority.folder, "it is not a file (a folder, a pipe or a device)"),
      (empty, files.key, empty, "it is empty"),
      (junk, files.key, junk, "it holds no PEM certificate"),
      (der, files.key, der, "it holds no PEM certificate"),
      (files.key, files.key, files.key, "it holds a private key and no certificate"),
      (files.certificate, files.certificate, files.certificate, "it holds no PEM private key"),
      (files.certificate, junk, junk, "it holds no PEM private key"),
      (files.certificate, locked, locked, "its private key is encrypted"),
      (files.certificate, other.key, other.key, "it is not the key of the certificate in \(files.certificate)"),
    ]
    for (certificate, key, path, reason) in cases {
      let got = fault(certificate, key)
      #expect(got?.path == path)
      #expect(got?.reason == reason)
      #expect("\(String(describing: got))".contains(secret) == false)
    }
    #expect(fault(der, files.key)?.cure.contains("-inform der") == true)
    #expect(fault(damaged, files.key)?.reason.hasPrefix("its certificate number 1 is damaged: ") == true)
    #expect(fault(files.certificate, damagedKey)?.reason.hasPrefix("its private key is damaged: ") == true)
    #expect(fault(files.certificate, files.key) == nil)
  }

  /// What no context would take: told of the file, before anything is made of it.
  @Test func aKeyThatIsTooShortIsAFaultOfItsFile() throws {
    let weak = try authority.issue("weak", for: ["DNS:a.example"], type: .shortRSA)
    let got = fault(weak.certificate, weak.key)
    #expect(got?.path == weak.certificate)
    #expect(got?.reason.hasPrefix("OpenSSL refuses it: ") == true)
    let usual = try authority.issue("usual", for: ["DNS:a.example"], type: .rsa)
    #expect(fault(usual.certificate, usual.key) == nil)
  }

  @Test func whatIsDueIsAWarning() throws {
    let now = 1_800_000_000
    let files = try authority.issue("a", for: ["DNS:a.example"])
    let identity = try Identity.load(certificate: files.certificate, key: files.key)
    let middle = (identity.certificate.validFrom + identity.certificate.validUntil) / 2
    #expect(identity.warnings(at: middle) == [])
    let life = identity.certificate.validUntil - identity.certificate.validFrom
    let late = identity.warnings(at: identity.certificate.validUntil - min(14 * 86_400, life / 3) + 1)
    #expect(late.count == 1 && late[0].contains("ends on \(Certificate.day(identity.certificate.validUntil))"))
    let after = identity.warnings(at: identity.certificate.validUntil + 1)
    #expect(after.count == 1 && after[0].contains("expired on \(Certificate.day(identity.certificate.validUntil))"))
    let before = identity.warnings(at: identity.certificate.validFrom - 1)
    #expect(before.count == 1 && before[0].contains("not valid before"))
    #expect(Certificate.day(now) == "2027-01-15")
    let nameless = try authority.issue("n", for: [])
    // The common name stands in.
    #expect(try Identity.load(certificate: nameless.certificate, key: nameless.key).certificate.names.all == ["n"])
  }

  @Test func aChainThatIsNoneIsAWarning() throws {
    let other = try TestAuthority("Other")
    let leaf = try authority.issue("leaf", for: ["DNS:a.example"])
    func together(_ paths: [String], _ name: String) throws -> Identity {
      let text = try paths.map { try String(decoding: Self.bytes(of: $0), as: UTF8.self) }.joined()
      return try Identity.load(certificate: authority.write(text, to: name), key: leaf.key)
    }
    let right = try together([leaf.certificate, authority.file], "right.pem")
    #expect(right.chain.count == 1)
    #expect(right.warnings(at: right.certificate.validFrom) == [])
    let wrong = try together([leaf.certificate, other.file], "wrong.pem")
    #expect(wrong.warnings(at: wrong.certificate.validFrom).count == 1)
    let reversed = try authority.write(
      [authority.file, leaf.certificate].map { try String(decoding: Self.bytes(of: $0), as: UTF8.self) }.joined(),
      to: "reversed.pem")
    #expect(fault(reversed, leaf.key)?.cure.contains("put that one first") == true)
  }

  @Test func namesCoverWhatTheySay() throws {
    let names = CertificateNames(
      hosts: ["a.example"], wildcards: ["b.example"], addresses: ["127.0.0.1", "2001:db8::1"])
    func covers(_ authority: String) -> Bool { names.cover(authority: Array(authority.utf8).span) }
    for authority in [
      "a.example", "A.EXAMPLE", "a.example:8443", "a.example.", "x.b.example", "x.b.example:1", "127.0.0.1",
      "127.0.0.1:443", "[2001:db8::1]", "[2001:DB8:0:0::1]:443",
    ] {
      #expect(covers(authority), "\(authority)")
    }
    for authority in [
      "", ":443", ".", "b.example", ".b.example", "y.x.b.example", "a.example.evil", "aaexample", "127.0.0.2",
      "[::1]", "[2001:db8::1", "2001:db8::1", "[127.0.0.1]", "xb.example",
    ] {
      #expect(!covers(authority), "\(authority)")
    }
  }

  private static func bytes(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw SessionTests.Unexpected() }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }
}
