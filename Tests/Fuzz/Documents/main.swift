// libFuzzer's target for what operators and replicas hand over: any bytes, read as JSON, as a stage's document and as a state file, must not trap and be written as what they are read as.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzDocuments
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzDocuments -max_total_time=60 Tests/Fuzz/Documents/corpus

import FuzzDriver
import MigrationTestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(DocumentCheck.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
