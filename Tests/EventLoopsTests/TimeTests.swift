import Bytes
import EventLoops
import Glibc
import Testing

@Suite struct TimeTests {
  private func httpDate(_ time: WallTime) -> String {
    var buffer = ByteBuffer()
    time.appendHTTPDate(to: &buffer)
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  private func rfc3339(_ time: WallTime) -> String {
    var buffer = ByteBuffer()
    time.appendRFC3339(to: &buffer)
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  @Test(
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ] as [(Int64, String)]) func writesTheDateOfHTTP(seconds: Int64, text: String)
  {
    #expect(httpDate(WallTime(seconds: seconds)) == text)
  }

  @Test func agreesWithTheLibraryOnEveryDayOfFourCenturies() {
    var text = [CChar](repeating: 0, count: 64)
    for day in 0..<146_097 {
      var time = time_t(day * 86_400 + day % 86_400)
      var parts = tm()
      gmtime_r(&time, &parts)
      let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
      let expected = String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
      if httpDate(WallTime(seconds: Int64(time))) != expected {
        Issue.record("\(expected) was written as \(httpDate(WallTime(seconds: Int64(time))))")
        return
      }
    }
  }

  @Test func writesMillisecondsForLogs() {
    #expect(rfc3339(WallTime(seconds: 784_111_777, nanoseconds: 125_999_999)) == "1994-11-06T08:49:37.125Z")
    #expect(rfc3339(WallTime(seconds: 784_111_777, nanoseconds: 7_000_000)) == "1994-11-06T08:49:37.007Z")
  }

  @Test func cachedDateFollowsTheSecond() {
    var cache = HTTPDateCache()
    var buffer = ByteBuffer()
    for seconds in [784_111_777, 784_111_777, 784_111_778, 784_111_777] as [Int64] {
      buffer.removeAll()
      cache.append(WallTime(seconds: seconds, nanoseconds: 5), to: &buffer)
      #expect(String(decoding: buffer.bytes, as: UTF8.self) == httpDate(WallTime(seconds: seconds)))
    }
  }

  @Test func instantsClampInsteadOfTrapping() {
    let early = Instant(nanoseconds: 5)
    #expect(early + .nanoseconds(7) == Instant(nanoseconds: 12))
    #expect(early - .nanoseconds(7) == Instant(nanoseconds: 0))
    #expect(early + .nanoseconds(-3) == Instant(nanoseconds: 2))
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(early + .seconds(Int64.max) == Instant(nanoseconds: UInt64(Int64.max) + 5))
    #expect(early + .seconds(Int64.min) == Instant(nanoseconds: 0))
    #expect(Instant.distantFuture - early == .nanoseconds(Int64.max))
    #expect(early - Instant.distantFuture == .nanoseconds(-Int64.max))
    #expect(Instant(nanoseconds: 12) - early == .nanoseconds(7))
    #expect(early - Instant(nanoseconds: 12) == .nanoseconds(-7))
  }
}
