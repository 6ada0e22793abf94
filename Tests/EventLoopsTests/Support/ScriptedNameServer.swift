import Glibc
import Synchronization

@testable import EventLoops

/// A DNS server on loopback that answers from a script, and remembers what it was asked.
final class ScriptedNameServer: Sendable {
  enum Record: Sendable {
    case a(String, ttl: UInt32)
    case aaaa(String, ttl: UInt32)
    case cname(String, ttl: UInt32)
    case srv(String, port: UInt16, priority: UInt16, weight: UInt16, ttl: UInt32)
  }

  enum Answer: Sendable {
    case records([Record])
    /// RCODE: 2 server failure, 3 no such name.
    case code(UInt8)
    case silence
    /// A datagram that is no answer.
    case junk
  }

  struct Question: Hashable, Sendable {
    let name: String
    /// 1 is A, 28 is AAAA, 33 is SRV.
    let type: UInt16
  }

  let port: UInt16
  private let descriptor: CInt
  private let thread: LoopThread

  init(_ script: @escaping @Sendable (Question) -> Answer) throws {
    let made = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard let address = SocketAddress(host: "127.0.0.1", port: 0),
      address.withKernelForm({ bind(made, $0, $1) }) == 0,
      let bound = SocketAddress.filled(by: { getsockname(made, $0, $1) }).address
    else { throw SystemError(call: "bind", code: errno) }
    descriptor = made
    port = bound.port
    let log = Log()
    self.log = log
    thread = try LoopThread.start(name: "names") { Self.serve(made, log, script) }
  }

  private final class Log: Sendable {
    let questions = Mutex<[Question]>([])
  }

  private let log: Log

  /// The form that the resolver takes.
  var server: String { "127.0.0.1:\(port)" }

  var questions: [Question] { log.questions.withLock { $0 } }

  /// Ends the server; an empty datagram tells it to.
  func stop() {
    guard let address = SocketAddress(host: "127.0.0.1", port: port) else { return }
    _ = address.withKernelForm { sendto(descriptor, nil, 0, 0, $0, $1) }
    thread.join()
    close(descriptor)
  }

  private static func serve(_ descriptor: CInt, _ log: Log, _ script: @Sendable (Question) -> Answer) {
    var bytes = [UInt8](repeating: 0, count: 1_024)
    while true {
      var count = 0
      let (_, peer) = SocketAddress.filled { address, length in
        count = bytes.withUnsafeMutableBytes { recvfrom(descriptor, $0.baseAddress, $0.count, 0, address, length) }
        return CInt(count)
      }
      guard count > 0, let peer else { return }
      guard let (question, end) = parse(bytes, count) else { continue }
      log.questions.withLock { $0.append(question) }
      guard let answer = answer(bytes, end, script(question)) else { continue }
      _ = peer.withKernelForm { sendto(descriptor, answer, answer.count, 0, $0, $1) }
    }
  }

  private static func parse(_ bytes: [UInt8], _ count: Int) -> (Question, end: Int)? {
    var labels: [String] = []
    var index = 12
    while index < count, bytes[index] != 0 {
      let length = Int(bytes[index])
      guard index + 1 + length < count else { return nil }
      labels.append(String(decoding: bytes[(index + 1)..<(index + 1 + length)], as: UTF8.self))
      index += 1 + length
    }
    guard index + 5 <= count else { return nil }
    let type = UInt16(bytes[index + 1]) << 8 | UInt16(bytes[index + 2])
    return (Question(name: labels.joined(separator: "."), type: type), index + 5)
  }

  private static func answer(_ question: [UInt8], _ end: Int, _ answer: Answer) -> [UInt8]? {
    var code: UInt8 = 0
    var records: [Record] = []
    switch answer {
    case .silence: return nil
    case .junk: return [1, 2, 3]
    case .code(let value): code = value
    case .records(let list): records = list
    }
    var reply: [UInt8] = [question[0], question[1], 0x81, 0x80 | code, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0]
    reply += question[12..<end]
    // Each record is about the name before it: the one asked for, or where the last alias led.
    var owner: [UInt8] = [0xC0, 12]
    for record in records {
      let type: UInt8
      let ttl: UInt32
      let data: [UInt8]
      switch record {
      case .a(let text, let life): (type, ttl, data) = (1, life, literal(text))
      case .aaaa(let text, let life): (type, ttl, data) = (28, life, literal(text))
      case .cname(let name, let life): (type, ttl, data) = (5, life, encoded(name))
      case .srv(let name, let port, let priority, let weight, let life):
        let numbers = [priority, weight, port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        (type, ttl, data) = (33, life, numbers + encoded(name))
      }
      reply += owner + [0, type, 0, 1]
      reply += withUnsafeBytes(of: ttl.bigEndian) { Array($0) }
      reply += [0, UInt8(data.count)] + data
      if type == 5 { owner = data }
    }
    return reply
  }

  private static func encoded(_ name: String) -> [UInt8] {
    name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }

  private static func literal(_ text: String) -> [UInt8] {
    switch SocketAddress(host: text, port: 0)?.address {
    case .v4(let four): withUnsafeBytes(of: four) { Array($0) }
    case .v6(let high, let low, _): withUnsafeBytes(of: (high, low)) { Array($0) }
    case nil: []
    }
  }
}
