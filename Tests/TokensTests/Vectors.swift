import Bytes
import Configuration
import Glibc
import JSONValues
import Testing

@testable import Tokens

/// Keys and tokens that other libraries made: see Fixtures/make_vectors.py.
struct Vectors {
  let document: JSONValue
  let keys: KeySet

  init() throws {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    let text = try #require(Self.content(of: "/\(folder)/Fixtures/vectors.json"))
    document = try JSONValue(parsing: text)
    keys = try KeySet(parsing: try #require(document["jwks"]).bytes)
  }

  private static func content(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
      count = max(0, read(descriptor, room.baseAddress, room.count))
    }
  }

  func token(_ algorithm: SignatureAlgorithm) throws -> [UInt8] {
    Array(try #require(document["tokens"]?[algorithm.rawValue]?.text).utf8)
  }

  /// The set with the one key of a name.
  func only(_ id: String, changing: (inout [JSONValue.Member]) -> Void = { _ in }) throws -> KeySet {
    let key = try #require(document["jwks"]?["keys"]?.elements?.first { $0["kid"]?.text == id }?.members)
    var members = key
    changing(&members)
    return try KeySet(parsing: JSONValue.object([.init("keys", .array([.object(members)]))]).bytes)
  }

  static let now = 1_800_000_000.0

  /// Checks a token as the gateway does.
  static func check(
    _ token: [UInt8], _ keys: KeySet, _ algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases,
    _ rules: ClaimRules = ClaimRules(), at now: Double = now
  ) throws(TokenFault) -> JSONValue {
    let parsed = try CompactToken(parsing: token.span)
    return try TokenCheck(algorithms: algorithms, rules: rules).verify(parsed, of: token.span, with: keys, at: now)
      .claims
  }

  static func fault(_ body: () throws -> Void) -> TokenFault.Kind? {
    do {
      try body()
      return nil
    } catch {
      return (error as? TokenFault)?.kind
    }
  }

  /// A token whose signature is worth nothing.
  static func unsigned(_ header: String, _ payload: String, signature: String = "AAAA") -> [UInt8] {
    func encoded(_ text: String) -> [UInt8] {
      var output = ByteBuffer()
      Base64.encode(Array(text.utf8).span, into: &output, alphabet: .urlSafe, padded: false)
      return output.bytes
    }
    return encoded(header) + [0x2E] + encoded(payload) + [0x2E] + Array(signature.utf8)
  }
}
