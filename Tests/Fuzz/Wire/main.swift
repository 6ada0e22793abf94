// libFuzzer's target for protobuf bytes: what becomes JSON is valid, bounded, and read again as the same message.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzWire
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzWire -max_total_time=60 \
//     -dict=Tests/Fuzz/Wire/words.dict Tests/Fuzz/Wire/corpus

import FuzzDriver
import TranslationTestSupport

nonisolated(unsafe) let rig = try CodecRig()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(WireCheck(rig, Array(UnsafeBufferPointer(start: start, count: count))).fault)
  return 0
}

runFuzzer(fuzzOneInput)
