/// A FileDescriptorProto, in so far as it matters here. Two files are equal when they mean the same, whatever their
/// comments and options are.
struct FileDescriptor: Equatable, Sendable {
  var name = ""
  var package = ""
  var dependencies: [String] = []
  var messages: [MessageDescriptor] = []
  var enums: [EnumDescriptor] = []
  var services: [ServiceDescriptor] = []
  var extensions: [FieldDescriptor] = []
  var syntax = ""
  var edition: Int32 = 0
  var overrides = FeatureOverrides()
  var places = SourcePlaces()
  var serialized = SerializedFile()

  /// - Parameter readsPlaces: whether ``places`` are wanted; they are most of a set that has comments.
  init(_ bytes: Span<UInt8>, readsPlaces: Bool) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): name = try reader.readString()
      case (2, .lengthDelimited): package = try reader.readString()
      case (3, .lengthDelimited): dependencies.append(try reader.readString())
      case (4, .lengthDelimited): messages.append(try MessageDescriptor(reader.readBytes(), depth: 1))
      case (5, .lengthDelimited): enums.append(try EnumDescriptor(reader.readBytes()))
      case (6, .lengthDelimited): services.append(try ServiceDescriptor(reader.readBytes()))
      case (7, .lengthDelimited): extensions.append(try FieldDescriptor(reader.readBytes()))
      case (8, .lengthDelimited): try overrides.merge(options: reader.readBytes(), number: 50)
      case (9, .lengthDelimited) where readsPlaces: try places.merge(reader.readBytes())
      case (12, .lengthDelimited): syntax = try reader.readString()
      case (14, .varint): edition = Int32(truncatingIfNeeded: try reader.readVarint())
      default: try reader.skip(tag)
      }
    }
  }

  /// The defaults of its syntax or edition with its own settings; nil when that is not known.
  var features: Features? {
    switch syntax {
    case "", "proto2": .proto2.applying(overrides)
    case "proto3": .proto3.applying(overrides)
    // 2023, 2024 and 2026.
    case "editions" where (1000...1002).contains(edition): .edition2023.applying(overrides)
    default: nil
    }
  }

  /// The files of a FileDescriptorSet. An error's offset is where the broken file begins.
  ///
  /// - Parameter keepsBytes: whether ``serialized`` is wanted.
  static func set(
    _ bytes: Span<UInt8>, readsPlaces: Bool = false, keepsBytes: Bool = false
  ) throws(WireError) -> [FileDescriptor] {
    var files: [FileDescriptor] = []
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited):
        let range = try reader.readLengthDelimited()
        do throws(WireError) {
          var file = try FileDescriptor(bytes.extracting(range), readsPlaces: readsPlaces)
          if keepsBytes { file.serialized = try SerializedFile(bytes.extracting(range)) }
          files.append(file)
        } catch {
          throw WireError(error.kind, at: range.lowerBound)
        }
      default: try reader.skip(tag)
      }
    }
    return files
  }
}
