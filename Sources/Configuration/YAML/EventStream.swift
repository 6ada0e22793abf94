import CYAML
import Diagnostics

/// What libyaml reports, one at a time.
struct YAMLEvent {
  enum Kind {
    case streamStart
    case streamEnd
    case documentStart
    case documentEnd
    case alias(String)
    /// `offset`: columns from the start of the scalar to the first character of its text, if it stands there as it is.
    case scalar(text: String, isPlain: Bool, offset: Int?)
    case sequenceStart
    case sequenceEnd
    case mappingStart
    case mappingEnd
  }

  var kind: Kind
  var position: SourcePosition
  var anchor: String?
  var tag: String?
}

/// The only owner of a libyaml parser; it reads a copy of the bytes, so nothing has to outlive anything.
struct EventStream: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>
  private let file: String

  /// - Parameter bytes: valid UTF-8.
  init(_ bytes: [UInt8], file: String) throws(Diagnostic) {
    self.file = file
    parser = .allocate(capacity: 1)
    parser.initialize(to: yaml_parser_t())
    input = .allocate(capacity: bytes.count)
    _ = input.initialize(fromContentsOf: bytes)
    guard yaml_parser_initialize(parser) == 1 else {
      throw Diagnostic(at: SourcePosition(file: file, line: 1, column: 1), "no memory is left to read this file")
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    input.deallocate()
  }

  /// The next event; a syntax error is thrown and ends the stream.
  func next() throws(Diagnostic) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw fault() }
    defer { yaml_event_delete(&event) }
    let position = place(event.start_mark)
    switch event.type {
    case YAML_STREAM_START_EVENT: return YAMLEvent(kind: .streamStart, position: position)
    case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, position: position)
    case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .documentEnd, position: position)
    case YAML_ALIAS_EVENT:
      return YAMLEvent(kind: .alias(text(event.data.alias.anchor) ?? ""), position: position)
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      let value = String(decoding: bytes, as: UTF8.self)
      let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
      return YAMLEvent(
        kind: .scalar(text: value, isPlain: isPlain, offset: Self.offset(of: value, isPlain: isPlain, event)),
        position: position, anchor: text(scalar.anchor), tag: text(scalar.tag))
    case YAML_SEQUENCE_START_EVENT:
      let start = event.data.sequence_start
      return YAMLEvent(
        kind: .sequenceStart, position: position, anchor: text(start.anchor), tag: text(start.tag))
    case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .sequenceEnd, position: position)
    case YAML_MAPPING_START_EVENT:
      let start = event.data.mapping_start
      return YAMLEvent(
        kind: .mappingStart, position: position, anchor: text(start.anchor), tag: text(start.tag))
    case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mappingEnd, position: position)
    default: return YAMLEvent(kind: .streamEnd, position: position)
    }
  }

  /// Escapes, line breaks, tags and anchors make the marks span more than text and quotes; then nobody can say where
  /// a character of the text stands.
  private static func offset(of text: String, isPlain: Bool, _ event: yaml_event_t) -> Int? {
    guard event.start_mark.line == event.end_mark.line, event.start_mark.column <= event.end_mark.column else {
      return nil
    }
    let width = Int(truncatingIfNeeded: event.end_mark.column - event.start_mark.column)
    let quotes = isPlain ? 0 : 1
    return width == text.unicodeScalars.count + 2 * quotes ? quotes : nil
  }

  private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }

  private func place(_ mark: yaml_mark_t) -> SourcePosition {
    SourcePosition(
      file: file, line: Int(truncatingIfNeeded: mark.line) &+ 1, column: Int(truncatingIfNeeded: mark.column) &+ 1)
  }

  /// The parser's error in our form.
  private func fault() -> Diagnostic {
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
    if parser.pointee.error == YAML_READER_ERROR {
      let offset = min(Int(truncatingIfNeeded: parser.pointee.problem_offset), input.count)
      return Diagnostic(
        at: TextPlace.position(of: max(0, offset), in: Array(input), file: file), "not valid YAML: \(problem)",
        cure: "remove the character, or write it as an escape in double quotes")
    }
    var what = "not valid YAML: \(problem)"
    if let context = parser.pointee.context.map({ String(cString: $0) }) {
      what += " \(context)"
      let mark = place(parser.pointee.context_mark)
      if mark.line != place(parser.pointee.problem_mark).line { what += " that begins in line \(mark.line)" }
    }
    return Diagnostic(at: place(parser.pointee.problem_mark), what, cure: noBreakSpaceCure() ?? cure(for: problem))
  }

  /// Pasted text often has blanks that look like any other and are none to YAML.
  private func noBreakSpaceCure() -> String? {
    let line = Int(truncatingIfNeeded: parser.pointee.problem_mark.line)
    let lines = input.split(separator: 0x0A, maxSplits: line + 1, omittingEmptySubsequences: false)
    // The fault shows in the line itself or in the one behind it.
    for number in [line, line - 1] where lines.indices.contains(number) {
      let text = String(decoding: lines[number], as: UTF8.self)
      if text.drop(while: { $0 == " " }).first == "\u{A0}" {
        return "line \(number + 1) is indented with no-break spaces; write ordinary ones"
      }
    }
    return nil
  }

  private func cure(for problem: String) -> String {
    let index = Int(truncatingIfNeeded: parser.pointee.problem_mark.index)
    if problem.contains("cannot start any token") {
      let character = TextPlace.character(index, in: Array(input))
      return character == "\t" ? "indent with spaces" : "put the value in quotes"
    }
    if problem.contains("tab character") { return "indent with spaces" }
    return "check the indentation, brackets and quotes before this place"
  }
}

/// Places in a text that is at hand as bytes.
enum TextPlace {
  /// Line and column of a byte; columns count characters (code points).
  static func position(of offset: Int, in bytes: [UInt8], file: String) -> SourcePosition {
    var line = 1
    var column = 1
    for byte in bytes.prefix(offset) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return SourcePosition(file: file, line: line, column: column)
  }

  /// The code point with that number.
  static func character(_ index: Int, in bytes: [UInt8]) -> Unicode.Scalar? {
    String(decoding: bytes, as: UTF8.self).unicodeScalars.dropFirst(max(0, index)).first
  }

  /// The offset of the first byte that is not UTF-8.
  static func firstInvalidByte(in bytes: [UInt8]) -> Int? {
    var decoder = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .emptyInput: return nil
      case .error: return offset
      }
    }
  }
}
