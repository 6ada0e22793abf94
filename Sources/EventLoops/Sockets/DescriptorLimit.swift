import CLinux

/// How many file descriptors the process may have (`RLIMIT_NOFILE`).
public enum DescriptorLimit {
  /// Those that it may have open at a time.
  public static var present: Int { clinux_descriptor_limit(0) }

  /// Those that it may ask for.
  public static var greatest: Int { clinux_descriptor_limit(1) }

  /// Asks for as many as there may be: the lower limit that shells and init systems set is for programs that use `select`.
  public static func raise() throws(SystemError) {
    try required("setrlimit") { clinux_raise_descriptor_limit() }
  }
}

extension ListeningSocket {
  /// The number of the next descriptor, which is about how many are open, for the kernel gives the lowest that is free.
  /// Nil when there is none left.
  public var nextDescriptor: Int? {
    let next = clinux_next_descriptor(descriptor)
    return next < 0 ? nil : Int(next)
  }
}
