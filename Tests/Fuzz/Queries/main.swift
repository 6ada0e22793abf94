// libFuzzer's target for query strings: what is accepted is written as a query that means the same.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzQueries
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzQueries -max_total_time=60 \
//     -dict=Tests/Fuzz/Queries/words.dict Tests/Fuzz/Queries/corpus

import FuzzDriver
import TranslationTestSupport

nonisolated(unsafe) let rig = try QueryCheck.Rig()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(QueryCheck(rig, Array(UnsafeBufferPointer(start: start, count: count))).fault)
  return 0
}

runFuzzer(fuzzOneInput)
