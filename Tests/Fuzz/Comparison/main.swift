// libFuzzer's target for the comparison of a shadow's answers: any two messages must not trap, and differ the one way as
// the other; a message is its own normal form.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzComparison
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzComparison -max_total_time=60 Tests/Fuzz/Comparison/corpus

import FuzzDriver
import MigrationTestSupport

let check = try ComparisonCheck()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(check.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
