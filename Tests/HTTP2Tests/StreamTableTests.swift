import Testing

@testable import HTTP2

/// Streams by number, whatever the numbers are.
struct StreamTableTests {
  private static func stream(_ number: Int32) -> HTTP2Stream {
    let stream = HTTP2Stream()
    stream.number = number
    return stream
  }

  @Test func whatIsNotThere() {
    var table = StreamTable()
    #expect(table.find(1) == nil && table.remove(1) == nil)
    table.insert(Self.stream(1))
    for other in [0, -1, 2, 3, .min, .max] as [Int32] { #expect(table.find(other) == nil, "\(other)") }
    #expect(table.remove(1)?.number == 1)
    #expect(table.find(1) == nil && table.isEmpty)
  }

  /// Numbers of one parity in order, far apart, and such that many begin at the same place.
  @Test(arguments: [2, 256, 65_536, 1 << 22])
  func steps(_ step: Int32) {
    var table = StreamTable()
    let numbers = (0..<400).map { 1 + $0 * step }
    for number in numbers { table.insert(Self.stream(number)) }
    for number in numbers { #expect(table.find(number)?.number == number) }
    for (index, number) in numbers.enumerated() where index % 3 != 0 {
      #expect(table.remove(number)?.number == number)
    }
    for (index, number) in numbers.enumerated() {
      #expect((table.find(number) != nil) == (index % 3 == 0), "\(number)")
    }
    #expect(table.count == numbers.count / 3 + 1)
    #expect(Set(table.ids) == Set(numbers.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)))
  }

  @Test func asADictionary() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func random(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    var table = StreamTable()
    var model: [Int32: HTTP2Stream] = [:]
    for _ in 0..<20_000 {
      let number = Int32(1 + random(300) * 2)
      if let known = model[number] {
        #expect(table.find(number) === known, "seed \(seed)")
        if random(2) == 0 {
          #expect(table.remove(number) === known, "seed \(seed)")
          model[number] = nil
        }
      } else {
        #expect(table.find(number) == nil, "seed \(seed)")
        if random(3) != 0 {
          let stream = Self.stream(number)
          table.insert(stream)
          model[number] = stream
        }
      }
      #expect(table.count == model.count)
    }
  }
}
