import Diagnostics
import Glibc
import ProtoJSON
import ProtobufSchema

/// turnout-bench: the JSON codec of the gateway beside libprotobuf's, on the same documents in the same run.
struct Program {
  private static let message = "bench.v1.Shipment"

  enum Fault: Error {
    case schema(String)
  }

  /// - Returns: the exit code.
  static func run(_ arguments: [String]) -> CInt {
    guard let options = Options(arguments.dropFirst()) else {
      print(Options.usage)
      return arguments.dropFirst().first == "--help" ? 0 : 2
    }
    do {
      try race(options)
      return 0
    } catch {
      print("error: \(error)")
      return 1
    }
  }

  private static func race(_ options: Options) throws {
    let set = try descriptorSet()
    let place = SourcePosition(file: "shipment.proto", line: 1, column: 1)
    let loaded = SchemaLoader.load([.descriptorSet(path: "shipment.proto", bytes: set, position: place)])
    guard let schema = loaded.schema, let index = schema.messageIndex(named: message) else {
      throw Fault.schema("\(loaded.diagnostics)")
    }
    guard let peer = Peer(descriptorSet: set, message: message) else { throw Fault.schema("libprotobuf refuses it") }
    var subject = Subject(codec: JSONCodec(schema: schema, profile: .standard), message: index)
    print("seed \(options.seed); processor time; the peer is libprotobuf: through messages, and its binary functions")
    print(Table.head)
    for size in options.sizes {
      let corpus = try Corpus(size, seed: options.seed, &subject, peer)
      for direction in options.directions {
        let inputs = direction == .decode ? corpus.json : corpus.wire
        let race = try Race(inputs, direction, options, &subject, peer)
        // Of JSON in both directions, so that the rates can be compared.
        let bytes = try direction == .decode ? total(corpus.json) : written(corpus.wire, &subject)
        print(Table.line(direction, size, bytes: bytes / inputs.count, race))
        fflush(nil)
      }
    }
    guard let special = schema.messageIndex(named: SpecialCase.message) else {
      throw Fault.schema("no special message")
    }
    var alone = Subject(codec: subject.codec, message: special)
    try SpecialCases.run(&alone)
  }

  private static func total(_ documents: [[UInt8]]) -> Int { documents.reduce(0) { $0 + $1.count } }

  /// Bytes of the JSON that is written.
  private static func written(_ wire: [[UInt8]], _ subject: inout Subject) throws -> Int {
    var bytes = 0
    for document in wire { bytes += try subject.run(.encode, document) }
    return bytes
  }

  private static func descriptorSet(_ source: String = #filePath) throws -> [UInt8] {
    let folder = source.split(separator: "/").dropLast(2).joined(separator: "/")
    let compiled = ProtoCompiler.compile(
      files: ["shipment.proto", "special.proto"], importPaths: ["/\(folder)/Schema"])
    guard compiled.faults.allSatisfy(\.isWarning) else { throw Fault.schema("\(compiled.faults)") }
    return compiled.descriptorSet
  }
}
