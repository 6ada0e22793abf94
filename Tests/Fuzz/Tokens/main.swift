// libFuzzer's target for tokens: any bytes, read as a signed token, as a key set and as claims, must not trap, and no
// signature of theirs is right.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzTokens
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzTokens -max_total_time=60 Tests/Fuzz/Tokens/corpus

import FuzzDriver
import TokensTestSupport

let reading = try TokenReading()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(reading.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
