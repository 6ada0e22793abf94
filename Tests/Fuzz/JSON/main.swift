// libFuzzer's target for JSON: what is accepted is written again as the same message, by every profile.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzJSON
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzJSON -max_total_time=60 \
//     -dict=Tests/Fuzz/JSON/words.dict Tests/Fuzz/JSON/corpus

import FuzzDriver
import TranslationTestSupport

nonisolated(unsafe) let rig = try CodecRig()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(JSONCheck(rig, Array(UnsafeBufferPointer(start: start, count: count))).fault)
  return 0
}

runFuzzer(fuzzOneInput)
