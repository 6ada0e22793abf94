import CLinux

/// The processors that this process may use.
public enum Processors {
  /// At least 1. The affinity mask counts, because containers set it.
  public static var available: Int { max(1, Int(clinux_available_processors())) }
}
