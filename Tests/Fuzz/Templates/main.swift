// libFuzzer's target for path templates and request paths: the trie finds what a slow search through all templates finds.
//
//   TURNOUT_FUZZ=1 swift build --scratch-path .build-fuzz --product FuzzTemplates
//   SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/FuzzTemplates -max_total_time=60 \
//     -dict=Tests/Fuzz/Templates/words.dict Tests/Fuzz/Templates/corpus

import FuzzDriver
import TranslationTestSupport

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  report(TemplateCheck(Array(UnsafeBufferPointer(start: start, count: count))).fault)
  return 0
}

runFuzzer(fuzzOneInput)
