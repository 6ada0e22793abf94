// libFuzzer's target for HTTP/2 sessions: any bytes, read by a server's session and by a client's, must not trap, must
// mean the same in one piece and in many, and nothing may go on that is not one message for the next hop.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzHTTP2
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzHTTP2 -max_total_time=60 Tests/Fuzz/HTTP2/corpus

import FuzzDriver
import HTTP2TestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(SessionCheck(Array(UnsafeBufferPointer(start: start, count: count))).fault)
  return 0
}

runFuzzer(fuzzOneInput)
