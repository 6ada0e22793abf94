/// What lay over one route's file at a moment, and which file that was: what is kept over a restart and shared by
/// replicas.
///
/// An empty overlay is worth a document too: it says that what was there has ended.
package struct StageDocument: Sendable, Equatable {
  /// Which of two documents is the newer one.
  package struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Nanoseconds since 1970, by the clock of who wrote it, and later than all versions that it had seen.
    package let time: Int64
    /// The latest time that is believed, in the year 2223: what came after it could never be overruled.
    static let latest: Int64 = 8_000_000_000_000_000_000
    /// Who wrote it, in hexadecimal: decides between two of the same time, alike in every order of texts.
    package let writer: String

    package init(time: Int64, writer: String) {
      self.time = time
      self.writer = writer
    }

    package static func < (left: Version, right: Version) -> Bool {
      (left.time, left.writer) < (right.time, right.writer)
    }

    /// In an order of texts that is that of versions: the time in 19 digits, then the writer.
    package var description: String {
      let digits = String(max(0, time))
      return String(repeating: "0", count: 19 - digits.utf8.count) + digits + "@" + writer
    }

    /// Reads what ``description`` wrote; nil for anything else.
    package init?(_ text: String) {
      let bytes = Array(text.utf8)
      guard (21...84).contains(bytes.count), bytes[19] == UInt8(ascii: "@"),
        bytes[..<19].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let time = Int64(String(decoding: bytes[..<19], as: UTF8.self)), time <= Self.latest
      else { return nil }
      self.init(time: time, writer: String(decoding: bytes[20...], as: UTF8.self))
    }
  }

  /// `pkg.Service/Method`.
  package var procedure: String
  package var version: Version
  /// Who wrote it, for people.
  package var replica: String
  /// What the file of the writer said: the overlay is for those whose file says the same.
  package var configured: StageSetting
  package var overlay: StageState.Overlay

  package init(
    procedure: String, version: Version, replica: String, configured: StageSetting, overlay: StageState.Overlay
  ) {
    self.procedure = procedure
    self.version = version
    self.replica = replica
    self.configured = configured
    self.overlay = overlay
  }
}

extension StageState.Overlay {
  /// Whether nothing lies over the file.
  package var isEmpty: Bool { self == StageState.Overlay() }
}
