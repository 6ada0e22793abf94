import Bytes

/// Finds the paths of places in JSON that was read up to there: `parcel.items[3].weightG`.
///
/// Runs only for errors and unknown members, so that decoding keeps no path.
struct PathScanner: ~Escapable {
  private var cursor: JSONCursor
  private var steps: [Step] = []
  /// In rising order.
  private var offsets: [Int]
  private var paths: [String] = []

  private enum Step {
    case member(Range<Int>)
    case element(Int)
  }

  private static let maximumPathBytes = 1_024

  @_lifetime(copy json)
  private init(_ json: Span<UInt8>, _ offsets: [Int]) {
    cursor = JSONCursor(json, maximumDepth: .max)
    self.offsets = offsets.reversed()
  }

  /// The paths of the values or member names in which the offsets lie.
  static func paths(in json: Span<UInt8>, at offsets: [Int]) -> [String] {
    var scanner = PathScanner(json, offsets)
    scanner.walk()
    // What is left lies behind the last token that could be read.
    while !scanner.offsets.isEmpty { scanner.report() }
    return scanner.paths
  }

  static func path(in json: Span<UInt8>, at offset: Int) -> String {
    paths(in: json, at: [offset]).first ?? ""
  }

  /// Reports each wanted offset below `end` with the path of now; false when none is left.
  private mutating func passed(_ end: Int) -> Bool {
    while let wanted = offsets.last, wanted < end { report() }
    return !offsets.isEmpty
  }

  private mutating func report() {
    offsets.removeLast()
    var text = ""
    for step in steps where text.utf8.count < Self.maximumPathBytes {
      switch step {
      case .member(let range):
        if !text.isEmpty { text += "." }
        let shown = Swift.min(range.count, 128)
        text += String(repairing: cursor.json.extracting(range.lowerBound..<range.lowerBound + shown))
      case .element(let index): text += "[\(index)]"
      }
    }
    paths.append(text)
  }

  /// Walks with a stack of its own and stops at the first thing that is no JSON, or behind the last wanted offset.
  private mutating func walk() {
    cursor.skipBlanks()
    var isValueNext = true
    while true {
      if isValueNext {
        guard let opened = value() else { return }
        isValueNext = opened
        if opened { continue }
      }
      guard let more = afterValue() else { return }
      isValueNext = more
      if !more && steps.isEmpty { return }
    }
  }

  /// Reads a value or the beginning of one: true when a container was opened and its first value is next, nil to stop.
  private mutating func value() -> Bool? {
    switch cursor.byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard passed(cursor.index + 1) else { return nil }
      let mark = cursor.byte
      guard let isOpen = try? cursor.open(mark) else { return nil }
      guard isOpen else { return passed(cursor.index) ? false : nil }
      if mark == UInt8(ascii: "[") {
        guard passed(cursor.index) else { return nil }
        steps.append(.element(0))
        return true
      }
      return member() ? true : nil
    default:
      let isRead = (try? cursor.skipValue()) != nil
      guard isRead, passed(cursor.index) else { return nil }
      return false
    }
  }

  /// Reads the name and the colon of a member; false to stop.
  private mutating func member() -> Bool {
    guard passed(cursor.index) else { return false }
    let start = cursor.index
    guard (try? cursor.skipString()) != nil else { return false }
    steps.append(.member(start + 1..<cursor.index - 1))
    return (try? cursor.colon()) != nil && passed(cursor.index)
  }

  /// Steps to the next value of the container, or out of it (false); nil to stop.
  private mutating func afterValue() -> Bool? {
    guard let last = steps.popLast() else { return false }
    cursor.skipBlanks()
    guard passed(cursor.index) else { return nil }
    switch last {
    case .member:
      guard let more = try? cursor.next(UInt8(ascii: "{")) else { return nil }
      guard more else { return passed(cursor.index) ? false : nil }
      return member() ? true : nil
    case .element(let index):
      guard let more = try? cursor.next(UInt8(ascii: "[")) else { return nil }
      guard passed(cursor.index), more else { return more ? nil : (offsets.isEmpty ? nil : false) }
      steps.append(.element(index + 1))
      return true
    }
  }
}
