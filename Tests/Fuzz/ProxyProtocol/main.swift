// libFuzzer's target for the PROXY protocol's reader: any bytes at the beginning of a connection must not trap, and be decided alike however they come.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzProxyProtocol
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzProxyProtocol -max_total_time=60 Tests/Fuzz/ProxyProtocol/corpus

import FuzzDriver
import ProxyProtocolTestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(ProxyHeaderCheck.fault(Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

runFuzzer(fuzzOneInput)
