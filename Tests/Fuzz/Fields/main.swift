// libFuzzer's target for the fields that the gateway reads for itself, one value a line: lists of proxies, traces, user
// agents and versions must not trap, and name only what is there. The audit log, where some of them go, keeps its lines.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzFields
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzFields -max_total_time=60 Tests/Fuzz/Fields/corpus

import FuzzDriver
import GatewayTestSupport

let check = FieldCheck()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(check?.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
