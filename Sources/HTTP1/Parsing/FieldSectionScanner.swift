import Bytes
import HTTPModel

/// Reads the field lines of a head or a trailer section, and the blank line behind them (RFC 9112 section 5).
///
/// It keeps its place between calls: each call gets the same bytes from the same start, and more behind them.
struct FieldSectionScanner {
  private enum Phase {
    case lineStart, name, leadingWhitespace, value, lineEnd, end
  }

  private var phase = Phase.lineStart
  private var fields = 0
  private var nameStart = 0
  private var nameEnd = 0
  private var valueStart = 0
  /// Offset of the first byte that was not looked at; behind the blank line when the section is complete.
  private(set) var position: Int

  init(position: Int) { self.position = position }

  /// Appends each complete field; true when the blank line was read.
  ///
  /// Whatever is wrong is found at the same byte however the bytes came in.
  mutating func scan(
    _ bytes: Span<UInt8>, into block: FieldBlock, maximumFields: Int
  ) throws(HTTP1Error) -> Bool {
    while position < bytes.count {
      // A line that is there as a whole falls through from its name to its end.
      switch phase {
      case .lineStart:
        try beginLine(bytes[position], maximumFields)
        if phase == .end { continue }
        fallthrough
      case .name:
        guard try scanName(bytes) else { return false }
        phase = .leadingWhitespace
        fallthrough
      case .leadingWhitespace:
        while position < bytes.count, ByteScan.isWhitespace(bytes[position]) { position &+= 1 }
        guard position < bytes.count else { return false }
        valueStart = position
        phase = .value
        fallthrough
      case .value:
        position = ByteScan.value(bytes, from: position)
        guard position < bytes.count else { return false }
        guard bytes[position] == ByteScan.carriageReturn else {
          throw HTTP1Error(bytes[position] == ByteScan.lineFeed ? .bareLineFeed : .invalidFieldValue)
        }
        position &+= 1
        phase = .lineEnd
        guard position < bytes.count else { return false }
        fallthrough
      case .lineEnd:
        guard bytes[position] == ByteScan.lineFeed else { throw HTTP1Error(.bareCarriageReturn) }
        append(bytes, to: block)
        position &+= 1
        phase = .lineStart
      case .end:
        guard bytes[position] == ByteScan.lineFeed else { throw HTTP1Error(.bareCarriageReturn) }
        position &+= 1
        return true
      }
    }
    return false
  }

  private mutating func beginLine(_ byte: UInt8, _ maximumFields: Int) throws(HTTP1Error) {
    switch byte {
    case ByteScan.carriageReturn:
      position &+= 1
      phase = .end
    case ByteScan.lineFeed:
      throw HTTP1Error(.bareLineFeed)
    case ByteScan.blank, ByteScan.tab:
      throw HTTP1Error(fields == 0 ? .whitespaceBeforeFields : .lineFolding)
    default:
      guard fields < maximumFields else { throw HTTP1Error(.tooManyFields) }
      nameStart = position
      phase = .name
    }
  }

  /// True when the colon was read too.
  private mutating func scanName(_ bytes: Span<UInt8>) throws(HTTP1Error) -> Bool {
    // No more than one byte over the limit is looked at, so that the fault does not depend on how much came.
    let end = min(bytes.count, nameStart &+ HeadLimits.maximumFieldName &+ 1)
    position = ByteScan.token(bytes.extracting(0..<end), from: position)
    guard position < end else {
      if end < bytes.count || end &- nameStart > HeadLimits.maximumFieldName { throw HTTP1Error(.fieldNameTooLong) }
      return false
    }
    switch bytes[position] {
    case UInt8(ascii: ":"):
      guard position > nameStart else { throw HTTP1Error(.emptyFieldName) }
      nameEnd = position
      position &+= 1
      return true
    case ByteScan.blank, ByteScan.tab: throw HTTP1Error(.whitespaceBeforeColon)
    case ByteScan.carriageReturn: throw HTTP1Error(.missingColon)
    case ByteScan.lineFeed: throw HTTP1Error(.bareLineFeed)
    default: throw HTTP1Error(.invalidFieldName)
    }
  }

  /// The line that ends before `position`, without the whitespace around its value.
  private mutating func append(_ bytes: Span<UInt8>, to block: FieldBlock) {
    var end = position &- 1
    while end > valueStart, ByteScan.isWhitespace(bytes[end &- 1]) { end &-= 1 }
    block.append(bytes.extracting(nameStart..<nameEnd), bytes.extracting(valueStart..<end))
    fields &+= 1
  }
}
