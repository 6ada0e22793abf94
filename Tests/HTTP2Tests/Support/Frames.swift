/// Frames by hand, also such as no library would send.
enum Frames {
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// What a client begins with.
  static var start: [UInt8] { preface + settings() }

  static func frame(_ type: UInt8, _ flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    word(UInt32(payload.count)).dropFirst() + [type, flags] + word(stream) + payload
  }

  static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }

  static func data(_ stream: UInt32, _ text: String, end: Bool = false) -> [UInt8] {
    frame(0, end ? 1 : 0, stream, Array(text.utf8))
  }

  static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = true) -> [UInt8] {
    frame(1, end ? 5 : 4, stream, section(fields))
  }

  static func headers(_ stream: UInt32, fragment: [UInt8], end: Bool = true, whole: Bool) -> [UInt8] {
    frame(1, (end ? 1 : 0) | (whole ? 4 : 0), stream, fragment)
  }

  static func continuation(_ stream: UInt32, _ fragment: [UInt8], whole: Bool) -> [UInt8] {
    frame(9, whole ? 4 : 0, stream, fragment)
  }

  static func priority(_ stream: UInt32) -> [UInt8] { frame(2, 0, stream, word(0) + [15]) }
  static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> [UInt8] { frame(3, 0, stream, word(code)) }

  static func settings(_ entries: [(UInt16, UInt32)] = []) -> [UInt8] {
    frame(4, 0, 0, entries.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] + word($1) })
  }

  static var settingsAcknowledgement: [UInt8] { frame(4, 1) }
  static var ping: [UInt8] { frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]) }
  static func goAway(_ last: UInt32, _ code: UInt32 = 0) -> [UInt8] { frame(7, 0, 0, word(last) + word(code)) }
  static func windowUpdate(_ stream: UInt32, _ bytes: UInt32) -> [UInt8] { frame(8, 0, stream, word(bytes)) }

  /// A field section of literals that are not indexed (RFC 7541 section 6.2.2).
  static func section(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0] + text($0) + text($1) }
  }

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    return length(bytes.count) + bytes
  }

  /// An integer with a prefix of seven bits.
  private static func length(_ count: Int) -> [UInt8] {
    if count < 127 { return [UInt8(count)] }
    var rest = count - 127
    var bytes: [UInt8] = [127]
    while rest >= 128 {
      bytes.append(UInt8(rest % 128) | 128)
      rest /= 128
    }
    return bytes + [UInt8(rest)]
  }
}

/// A frame as it was sent.
struct SentFrame: Equatable {
  var type: UInt8
  var flags: UInt8
  var stream: UInt32
  var payload: [UInt8]

  static func parse(_ bytes: [UInt8]) -> [SentFrame] {
    var frames: [SentFrame] = []
    var rest = bytes[...]
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      rest = rest.dropFirst(9)
      frames.append(
        SentFrame(type: head[3], flags: head[4], stream: number(head[5...]), payload: Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return frames
  }

  static func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  /// The code of a RST_STREAM or GOAWAY.
  var code: UInt32? {
    switch type {
    case 3: Self.number(payload.prefix(4))
    case 7: Self.number(payload.dropFirst(4).prefix(4))
    default: nil
    }
  }
}

extension [SentFrame] {
  var resets: [SentFrame] { filter { $0.type == 3 } }
  var goAways: [SentFrame] { filter { $0.type == 7 } }
}
