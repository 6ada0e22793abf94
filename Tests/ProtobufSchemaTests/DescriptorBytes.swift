/// Wire bytes by hand, for descriptor sets that no compiler would make.
struct DescriptorBytes {
  private(set) var bytes: [UInt8] = []

  static func make(_ body: (inout DescriptorBytes) -> Void) -> [UInt8] {
    var result = DescriptorBytes()
    body(&result)
    return result.bytes
  }

  mutating func raw(_ more: [UInt8]) { bytes += more }

  mutating func varint(_ value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }

  mutating func number(_ field: Int, _ value: Int64) {
    varint(UInt64(field) << 3)
    varint(UInt64(bitPattern: value))
  }

  mutating func content(_ field: Int, _ content: [UInt8]) {
    varint(UInt64(field) << 3 | 2)
    varint(UInt64(content.count))
    bytes += content
  }

  mutating func text(_ field: Int, _ text: String) { content(field, Array(text.utf8)) }

  mutating func nested(_ field: Int, _ body: (inout DescriptorBytes) -> Void) { content(field, Self.make(body)) }

  // MARK: Descriptors

  /// A set of one file.
  static func set(_ name: String = "x.proto", syntax: String = "proto3", _ body: (inout DescriptorBytes) -> Void)
    -> [UInt8]
  {
    make { $0.file(name, syntax: syntax, body) }
  }

  mutating func file(
    _ name: String, package: String = "x", syntax: String = "proto3", _ body: (inout DescriptorBytes) -> Void
  ) {
    nested(1) { file in
      file.text(1, name)
      if !package.isEmpty { file.text(2, package) }
      file.text(12, syntax)
      body(&file)
    }
  }

  /// A message inside a file.
  mutating func message(_ name: String, field number: Int = 4, _ body: (inout DescriptorBytes) -> Void = { _ in }) {
    nested(number) { message in
      message.text(1, name)
      body(&message)
    }
  }

  /// A field inside a message (2), or an extension inside a file (7) or message (6).
  mutating func field(
    _ name: String, _ number: Int64, in place: Int = 2, type: Int64 = 9, label: Int64 = 1,
    _ more: (inout DescriptorBytes) -> Void = { _ in }
  ) {
    nested(place) { field in
      field.text(1, name)
      field.number(3, number)
      field.number(4, label)
      if type != 0 { field.number(5, type) }
      more(&field)
    }
  }

  /// An enum inside a file (5) or message (4).
  mutating func enumeration(
    _ name: String, in place: Int = 5, _ values: [(String, Int64)],
    _ more: (inout DescriptorBytes) -> Void = { _ in }
  ) {
    nested(place) { entry in
      entry.text(1, name)
      for (value, number) in values {
        entry.nested(2) {
          $0.text(1, value)
          $0.number(2, number)
        }
      }
      more(&entry)
    }
  }

  /// A service with one method; `rule` is the content of its google.api.http.
  mutating func service(
    _ name: String, input: String = ".x.M", output: String = ".x.M", methods: [String] = ["Do"],
    rule: ((inout DescriptorBytes) -> Void)? = nil
  ) {
    nested(6) { service in
      service.text(1, name)
      for method in methods {
        service.nested(2) {
          $0.text(1, method)
          $0.text(2, input)
          $0.text(3, output)
          if let rule { $0.nested(4) { options in options.nested(72_295_728, rule) } }
        }
      }
    }
  }
}
