// libFuzzer's target for the reader of Redis' replies: any bytes must not trap, stay within their bounds, and be the same replies however they come.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzRedis
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzRedis -max_total_time=60 Tests/Fuzz/Redis/corpus

import FuzzDriver
import RedisTestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(ReplyCheck.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
