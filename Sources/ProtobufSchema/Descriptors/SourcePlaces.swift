/// Where declarations stand in their source: SourceCodeInfo as far as it matters here. All are equal, since two files
/// mean the same wherever their declarations stand.
struct SourcePlaces: Equatable, Sendable {
  struct Place: Sendable {
    /// From 1.
    var line: Int
    /// In characters, from 1.
    var column: Int
  }

  private var places: [[Int32]: Place] = [:]

  /// The place of what a path of field numbers and indices leads to, from the file's descriptor on.
  subscript(_ path: [Int32]) -> Place? { places[path] }

  static func == (left: Self, right: Self) -> Bool { true }

  mutating func merge(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): try addLocation(reader.readBytes())
      default: try reader.skip(tag)
      }
    }
  }

  private mutating func addLocation(_ bytes: Span<UInt8>) throws(WireError) {
    var path: [Int32] = []
    var span: [Int32] = []
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): path += try Self.numbers(reader.readBytes())
      case (2, .lengthDelimited): span += try Self.numbers(reader.readBytes())
      default: try reader.skip(tag)
      }
    }
    guard span.count >= 2, span[0] >= 0, span[1] >= 0, places[path] == nil else { return }
    places[path] = Place(line: Int(span[0]) + 1, column: Int(span[1]) + 1)
  }

  private static func numbers(_ bytes: Span<UInt8>) throws(WireError) -> [Int32] {
    var reader = WireReader(bytes)
    var numbers: [Int32] = []
    while !reader.isAtEnd { numbers.append(Int32(truncatingIfNeeded: try reader.readVarint())) }
    return numbers
  }
}
