/// A place in JSON text (RFC 8259). Knows tokens, not messages.
struct JSONCursor: ~Escapable {
  let json: Span<UInt8>
  var index = 0
  /// Arrays and objects that are open.
  var depth = 0
  let maximumDepth: Int

  @_lifetime(copy json)
  init(_ json: Span<UInt8>, maximumDepth: Int) {
    self.json = json
    self.maximumDepth = maximumDepth
  }

  /// The byte here, 0 at the end of the text.
  @inline(__always)
  var byte: UInt8 { index < json.count ? json[index] : 0 }

  @inline(__always)
  mutating func skipBlanks() {
    if index < json.count, json[index] <= 0x20 { skipRun() }
  }

  /// Steps over blanks, indentation eight bytes at a time.
  private mutating func skipRun() {
    let json = json
    var at = index
    while at < json.count {
      while json.count &- at >= 8 {
        let word = UInt64(littleEndian: unsafe json.bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self))
        let others = word ^ 0x2020_2020_2020_2020
        if others != 0 {
          at &+= others.trailingZeroBitCount >> 3
          break
        }
        at &+= 8
      }
      guard at < json.count else { break }
      let byte = json[at]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
      at &+= 1
    }
    index = at
  }

  /// Steps over a quoted name and its colon, a text such as `"name":` of the pool, if just they stand here.
  ///
  /// - Parameter offset: where the text begins in the pool, which goes on for 16 more bytes behind it.
  @inline(__always)
  mutating func skip(name pool: Span<UInt8>, _ offset: Int, _ length: Int) -> Bool {
    guard offset >= 0, length >= 4, length <= 16, json.count &- index >= 16, pool.count &- offset >= 16 else {
      return skip(long: pool, offset, length)
    }
    let text = unsafe json.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD2<UInt64>.self)
    let name = unsafe pool.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
    let first = text[0] ^ name[0]
    if length < 8 {
      guard UInt64(littleEndian: first) &<< UInt64(64 &- length &* 8) == 0 else { return false }
    } else {
      // Of the second word the last bytes of the text, which may be none.
      let second = UInt64(littleEndian: text[1] ^ name[1])
      let others = length == 8 ? 0 : second &<< UInt64(128 &- length &* 8)
      guard first | others == 0 else { return false }
    }
    index &+= length
    return true
  }

  private mutating func skip(long pool: Span<UInt8>, _ offset: Int, _ length: Int) -> Bool {
    guard offset >= 0, length > 0, pool.count &- offset >= length, json.count &- index >= length else { return false }
    for at in 0..<length where pool[offset &+ at] != json[index &+ at] { return false }
    index &+= length
    return true
  }

  @inline(never)
  func unexpected(_ expected: String) -> Fault {
    if index >= json.count { return Fault(.syntax, at: json.count, "\(expected) expected, but the text ends") }
    return Fault(.syntax, at: index, "\(expected) expected")
  }

  /// Steps over `{` or `[` and what is blank behind it.
  ///
  /// - Returns: false when the closing mark follows at once; it is stepped over then.
  @inline(__always)
  mutating func open(_ mark: UInt8) throws(Fault) -> Bool {
    depth &+= 1
    guard depth <= maximumDepth else { throw tooDeep() }
    index &+= 1
    skipBlanks()
    // `]` and `}` are two above `[` and `{`.
    if byte == mark &+ 2 {
      index &+= 1
      depth &-= 1
      return false
    }
    return true
  }

  @inline(never)
  private func tooDeep() -> Fault { Fault(.depth, at: index, "at most \(maximumDepth) levels of nesting") }

  /// Steps over `,` (true) or the closing mark (false) and what is blank around.
  @inline(__always)
  mutating func next(_ mark: UInt8) throws(Fault) -> Bool {
    skipBlanks()
    if byte == UInt8(ascii: ",") {
      index &+= 1
      skipBlanks()
      return true
    }
    guard byte == mark &+ 2, index < json.count else {
      throw unexpected(mark == UInt8(ascii: "{") ? "\",\" or \"}\"" : "\",\" or \"]\"")
    }
    index &+= 1
    depth &-= 1
    return false
  }

  /// Steps over the colon behind a member's name.
  @inline(__always)
  mutating func colon() throws(Fault) {
    if byte != UInt8(ascii: ":") {
      skipBlanks()
      guard byte == UInt8(ascii: ":") else { throw unexpected("\":\"") }
    }
    index &+= 1
    skipBlanks()
  }

  @inline(__always)
  mutating func literal(_ text: StaticString) throws(Fault) {
    guard skip(text) else { throw unexpected("a JSON value") }
  }

  /// Steps over a literal if it stands here.
  @inline(__always)
  mutating func skip(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard json.count &- index >= length else { return false }
    let start = unsafe text.utf8Start
    for offset in 0..<length where unsafe start[offset] != json[index &+ offset] { return false }
    index &+= length
    return true
  }

  /// Checks that nothing but blanks is left.
  mutating func end() throws(Fault) {
    skipBlanks()
    guard index >= json.count else { throw Fault(.syntax, at: index, "nothing more after the value") }
  }

  /// What stands here, for an error message.
  var found: String {
    switch byte {
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "an array"
    case UInt8(ascii: "\""): "a string"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
    case UInt8(ascii: "n"): "null"
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): "a number"
    default: ""
    }
  }

  /// The fault for a value of the wrong JSON type, or for no JSON at all.
  @inline(never)
  func mismatch(_ expected: String) -> Fault {
    let found = found
    if found.isEmpty { return unexpected(expected) }
    return Fault(.type, at: index, "\(expected) expected, not \(found)")
  }
}
