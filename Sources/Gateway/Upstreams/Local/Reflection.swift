import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

/// `ServerReflection/ServerReflectionInfo`: hands out the files of the loaded schema. The messages of v1 and v1alpha are
/// the same.
///
/// A file comes with all that it imports, but for what the stream has had before.
final class Reflection: LocalAnswerer {
  private let files: DescriptorFiles
  private let services: [String]
  private var known: Set<Int> = []

  /// - Parameter services: those that have routes.
  init(_ files: DescriptorFiles, services: [String]) {
    self.files = files
    self.services = services
  }

  func received(_ message: Span<UInt8>, _ exchange: LocalExchange) throws(RPCError) {
    let request: ReflectionRequest
    do throws(WireError) {
      request = try ReflectionRequest(message)
    } catch {
      throw RPCError(.invalidArgument, "the message is no ServerReflectionRequest: \(error.kind.rawValue)")
    }
    var reply = ByteBuffer()
    reply.append(tag: 1, .lengthDelimited)
    reply.append(lengthDelimited: request.host)
    reply.append(tag: 2, .lengthDelimited)
    let original = reply.beginLengthDelimited()
    reply.append(message)
    reply.endLengthDelimited(original)
    answer(request.question, into: &reply)
    exchange.write { $0.append(reply) }
  }

  func receivedEnd(_ exchange: LocalExchange) { exchange.end(with: nil) }

  private func answer(_ question: ReflectionRequest.Question?, into reply: inout ByteBuffer) {
    switch question {
    case .file(let name): writeFile(files.file(named: name), "file \(name)", into: &reply)
    case .symbol(let name): writeFile(files.file(declaring: name), "symbol \(name)", into: &reply)
    case .extending(let type, let number):
      writeFile(files.file(extending: type, number), "extension \(number) of \(type)", into: &reply)
    case .extensionNumbers(let type): writeNumbers(of: type, into: &reply)
    case .services: writeServices(into: &reply)
    case nil: writeError(.invalidArgument, "the request asks nothing that is known here", into: &reply)
    }
  }

  private func writeFile(_ file: Int?, _ what: String, into reply: inout ByteBuffer) {
    guard let file else { return writeError(.notFound, "the schema has no \(what.prefix(200))", into: &reply) }
    reply.append(tag: 4, .lengthDelimited)
    let start = reply.beginLengthDelimited()
    for one in files.closure(of: file, known: &known) {
      reply.append(tag: 1, .lengthDelimited)
      let bytes = files.bytes(of: one)
      reply.append(varint: UInt64(bytes.count))
      reply.append(bytes.span)
    }
    reply.endLengthDelimited(start)
  }

  private func writeNumbers(of type: String, into reply: inout ByteBuffer) {
    guard let numbers = files.extensionNumbers(of: type) else {
      return writeError(.notFound, "the schema has no message \(type.prefix(200))", into: &reply)
    }
    reply.append(tag: 5, .lengthDelimited)
    let start = reply.beginLengthDelimited()
    reply.append(tag: 1, .lengthDelimited)
    reply.append(lengthDelimited: type)
    if !numbers.isEmpty {
      reply.append(tag: 2, .lengthDelimited)
      let packed = reply.beginLengthDelimited()
      for number in numbers { reply.append(varint: UInt64(number)) }
      reply.endLengthDelimited(packed)
    }
    reply.endLengthDelimited(start)
  }

  private func writeServices(into reply: inout ByteBuffer) {
    reply.append(tag: 6, .lengthDelimited)
    let start = reply.beginLengthDelimited()
    for service in services {
      reply.append(tag: 1, .lengthDelimited)
      let entry = reply.beginLengthDelimited()
      reply.append(tag: 1, .lengthDelimited)
      reply.append(lengthDelimited: service)
      reply.endLengthDelimited(entry)
    }
    reply.endLengthDelimited(start)
  }

  private func writeError(_ code: Code, _ message: String, into reply: inout ByteBuffer) {
    reply.append(tag: 7, .lengthDelimited)
    let start = reply.beginLengthDelimited()
    reply.append(tag: 1, .varint)
    reply.append(varint: UInt64(code.rawValue))
    reply.append(tag: 2, .lengthDelimited)
    reply.append(lengthDelimited: message)
    reply.endLengthDelimited(start)
  }
}

/// A ServerReflectionRequest.
struct ReflectionRequest {
  enum Question {
    case file(String)
    case symbol(String)
    case extending(String, Int32)
    case extensionNumbers(String)
    case services
  }

  private(set) var host = ""
  /// Nil for one that is not known here.
  private(set) var question: Question?

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): host = try reader.readString()
      case (3, .lengthDelimited): question = .file(try reader.readString())
      case (4, .lengthDelimited): question = .symbol(try reader.readString())
      case (5, .lengthDelimited): question = try Self.extending(reader.readBytes())
      case (6, .lengthDelimited): question = .extensionNumbers(try reader.readString())
      case (7, .lengthDelimited):
        try reader.skip(tag)
        question = .services
      default: try reader.skip(tag)
      }
    }
  }

  private static func extending(_ bytes: Span<UInt8>) throws(WireError) -> Question {
    var type = ""
    var number: Int32 = 0
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): type = try reader.readString()
      case (2, .varint): number = Int32(truncatingIfNeeded: try reader.readVarint())
      default: try reader.skip(tag)
      }
    }
    return .extending(type, number)
  }
}

extension ByteBuffer {
  /// Appends a text behind its length.
  mutating func append(lengthDelimited text: String) {
    append(varint: UInt64(text.utf8.count))
    append(text: text)
  }
}
