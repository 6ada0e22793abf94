package import Bytes
import CHiredis

/// One command: its name and its arguments, any bytes.
package struct RedisCommand: Sendable, Equatable {
  /// All arguments, one behind the other.
  private var bytes: [UInt8] = []
  /// Where each of them ends.
  private var ends: [Int] = []

  package init(_ name: String, _ arguments: String...) {
    append(name)
    for argument in arguments { append(argument) }
  }

  /// Adds an argument, as UTF-8.
  package mutating func append(_ argument: String) {
    bytes += argument.utf8
    ends.append(bytes.count)
  }

  /// Adds an argument of any bytes.
  package mutating func append(_ argument: [UInt8]) {
    bytes += argument
    ends.append(bytes.count)
  }

  /// Adds a number, in decimal digits.
  package mutating func append(_ number: some BinaryInteger) { append("\(number)") }

  /// Appends the command as it is sent (an array of bulk strings).
  ///
  /// - Returns: false when there was no memory for it.
  package func write(into output: inout ByteBuffer) -> Bool {
    let count = ends.count
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      // An empty array has no address, and a command of empty arguments has no bytes.
      let nothing: StaticString = ""
      let start =
        unsafe UnsafeRawPointer(bytes.baseAddress).map { unsafe $0.assumingMemoryBound(to: CChar.self) }
        ?? UnsafeRawPointer(nothing.utf8Start).assumingMemoryBound(to: CChar.self)
      return unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { starts in
        unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: count) { lengths in
          var begin = 0
          for index in 0..<count {
            unsafe starts.initializeElement(at: index, to: start + begin)
            unsafe lengths.initializeElement(at: index, to: ends[index] - begin)
            begin = ends[index]
          }
          var text: UnsafeMutablePointer<CChar>?
          let length = unsafe redisFormatCommandArgv(
            &text, CInt(clamping: count), starts.baseAddress, lengths.baseAddress)
          guard length > 0, let text = unsafe text else { return false }
          unsafe output.append(UnsafeRawBufferPointer(start: text, count: Int(length)))
          unsafe redisFreeCommand(text)
          return true
        }
      }
    }
  }
}
