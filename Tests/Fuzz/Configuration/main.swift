// libFuzzer's target for configuration files: any bytes, read and compiled as `turnout check` does it, must not trap; what is
// wrong has its place in the file, and no value from outside is shown.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzConfiguration
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzConfiguration -max_total_time=60 -dict=Tests/Fuzz/Configuration/words.dict Tests/Fuzz/Configuration/corpus

import FuzzDriver
import GatewayTestSupport

let check = ConfigurationCheck()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(check?.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
