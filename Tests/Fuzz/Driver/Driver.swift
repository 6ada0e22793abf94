import Glibc

/// Starts libFuzzer's loop with the arguments of the process, and does not come back before its end.
///
/// Each fuzzer has a function `LLVMFuzzerTestOneInput`, which libFuzzer's runtime names, and hands it in here: Swift's
/// own `main` takes the place of the one that the runtime has.
package func runFuzzer(_ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) {
  var argumentCount = CommandLine.argc
  var arguments = CommandLine.unsafeArgv
  _ = runDriver(&argumentCount, &arguments, target)
}

package typealias ArgumentVector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<ArgumentVector>,
  _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Ends the process with the fault on stderr, which libFuzzer takes for a crash; nothing without one.
package func report(_ fault: String?) {
  guard let fault else { return }
  var line = "\(fault)\n"
  _ = line.withUTF8 { write(2, $0.baseAddress, $0.count) }
  abort()
}
