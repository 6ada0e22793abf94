// libFuzzer's target for the wire of the RPC protocols and of REST streams: any bytes, read as a body of each dialect,
// as trailers, as a status, as base64 and as JSON messages, must not trap, must mean the same in one piece and byte by
// byte, and what is written of them must be read the same.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzRPC
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzRPC -max_total_time=60 Tests/Fuzz/RPC/corpus

import FuzzDriver
import RPCTestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(WireCheck.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
