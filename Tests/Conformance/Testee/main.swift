// The program that the official conformance runner of protobuf tests: Tests/Conformance/README.md.
//
//   ConformanceTestee [DESCRIPTOR-SET]
import Bytes
import Glibc
import ProtobufSchema

func fail(_ reason: String) -> Never {
  var line = ByteBuffer()
  line.append(text: "ConformanceTestee: \(reason)\n")
  line.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  exit(1)
}

func contents(of path: String) -> [UInt8]? {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var buffer = ByteBuffer()
  while true {
    let count = buffer.appendWithUnsafeRoom(65_536) { read(file, $0.baseAddress, $0.count) }
    if count == 0 { return buffer.bytes }
    if count < 0, errno != EINTR { return nil }
  }
}

// Beside the sources, unless another one is named.
let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
let path = CommandLine.arguments.dropFirst().first ?? "\(folder)/messages.binpb"
guard let set = contents(of: path) else { fail("\(path) cannot be read") }
do {
  let testee = try Testee(descriptorSet: set, path: path)
  while let message = try Pipe.read() {
    let request = try ConformanceRequest(message.span)
    try Pipe.write(testee.answer(request).bytes)
  }
} catch {
  fail("\(error)")
}
