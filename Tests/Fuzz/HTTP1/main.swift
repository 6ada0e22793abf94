// libFuzzer's target for the HTTP/1 parsers: any bytes, read as requests and as responses, must not trap and must mean
// the same in one piece and byte by byte; what is accepted must be one message for the next hop too.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzHTTP1
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzHTTP1 -max_total_time=60 Tests/Fuzz/HTTP1/corpus

import FuzzDriver
import HTTP1TestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  for side in ConnectionTranscript.Side.allCases {
    let whole = ConnectionTranscript.of(side, bytes)
    let byteWise = ConnectionTranscript.byteWise(side, bytes)
    if whole != byteWise { report("\(whole) is not \(byteWise)") }
  }
  report(RewriteCheck(bytes).fault)
  return 0
}

runFuzzer(fuzzOneInput)
