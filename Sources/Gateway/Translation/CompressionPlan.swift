import Bytes
import Compression
import Configuration
import HTTPModel
import RPC

/// How the answers of a route are compressed, ready to be asked.
struct CompressionPlan: Sendable {
  let minimumSize: Int
  let codings: [ContentCoding]
  let passThrough: Bool
  /// Each a pattern of a media type; nil: all.
  private let types: [TypePattern]?

  /// For answers whose type the protocol says.
  static let standard = CompressionPlan()

  private init() {
    minimumSize = CompressionConfiguration().minimumSize
    codings = [.gzip, .br, .zstd, .identity]
    passThrough = false
    types = nil
  }

  /// Nil when nothing is compressed.
  init?(_ configuration: CompressionConfiguration) {
    guard configuration.isOn else { return nil }
    minimumSize = configuration.minimumSize
    codings =
      configuration.algorithms.map { algorithm in
        switch algorithm {
        case .gzip: .gzip
        case .br: .br
        case .zstd: .zstd
        }
      } + [.identity]
    passThrough = configuration.passThrough
    types = configuration.types.map { TypePattern($0) }
  }

  /// Whether an answer is of a type that is compressed.
  func covers(_ fields: FieldBlock) -> Bool {
    guard let types else { return true }
    guard let index = fields.firstIndex(of: .contentType) else { return false }
    return fields.withValue(at: index) { value in
      let essence = value.extracting(MediaType.essence(value))
      for type in types where type.matches(essence) { return true }
      return false
    }
  }
}

/// `text/*`, `application/*+json`: at most one `*`, for any characters.
private struct TypePattern: Sendable {
  private let first: [UInt8]
  /// Behind the `*`; nil without one.
  private let last: [UInt8]?

  init(_ text: String) {
    let parts = text.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
    first = Array((parts.first ?? "").utf8)
    last = parts.count > 1 ? Array(parts[1].utf8) : nil
  }

  func matches(_ type: Span<UInt8>) -> Bool {
    guard let last else { return ASCII.equalIgnoringCase(type, first.span) }
    guard type.count >= first.count + last.count else { return false }
    return ASCII.equalIgnoringCase(type.extracting(0..<first.count), first.span)
      && ASCII.equalIgnoringCase(type.extracting(type.count - last.count..<type.count), last.span)
  }
}
