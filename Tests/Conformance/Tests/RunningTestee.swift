import Foundation
import ProtoJSON
import ProtobufSchema
import Testing

/// The testee as the runner has it: a process behind two pipes.
final class RunningTestee {
  enum Answer: Equatable {
    case parseError(String)
    case serializeError(String)
    case runtimeError(String)
    case protobuf([UInt8])
    case json(String)
    case skipped(String)
  }

  enum Payload {
    case protobuf([UInt8])
    case json(String)
    case text(String)
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init() throws {
    // Both are built into one folder.
    let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("ConformanceTestee")
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Closes the pipe as the runner does at its end.
  ///
  /// - Returns: the exit status.
  func end() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// - Parameter format: 1 protobuf, 2 JSON, 4 text.
  func ask(_ payload: Payload, _ type: String, format: UInt8, ignoresUnknown: Bool = false) throws -> Answer {
    var request: [UInt8] = []
    switch payload {
    case .protobuf(let bytes): request += Self.field(1, bytes)
    case .json(let text): request += Self.field(2, Array(text.utf8))
    case .text(let text): request += Self.field(8, Array(text.utf8))
    }
    request += [3 << 3, format]
    request += Self.field(4, Array(type.utf8))
    request += [5 << 3, ignoresUnknown ? 3 : 2]
    let length = (0..<4).map { UInt8(truncatingIfNeeded: request.count >> ($0 * 8)) }
    try input.fileHandleForWriting.write(contentsOf: Data(length + request))
    let head = try read(4)
    let count = (0..<4).reduce(0) { $0 | Int(head[$1]) << ($1 * 8) }
    return try Self.answer(try read(count))
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try #require(try output.fileHandleForReading.read(upToCount: count - bytes.count), "the testee ended")
      bytes += more
    }
    return bytes
  }

  private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = content.count
    while rest >= 128 {
      length.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return [number << 3 | 2] + length + [UInt8(rest)] + content
  }

  private static func answer(_ bytes: [UInt8]) throws -> Answer {
    var reader = WireReader(bytes.span)
    let tag = try #require(try reader.nextTag())
    let range = try reader.readLengthDelimited()
    let content = Array(bytes[range])
    let text = String(decoding: content, as: UTF8.self)
    switch tag.number {
    case 1: return .parseError(text)
    case 2: return .runtimeError(text)
    case 3: return .protobuf(content)
    case 4: return .json(text)
    case 5: return .skipped(text)
    default: return .serializeError(text)
    }
  }
}
