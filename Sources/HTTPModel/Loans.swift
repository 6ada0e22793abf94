/// Who uses a value of a class at present: many may read it, or one may change it. What the compiler's checks of exclusive
/// access look for, at a few instructions.
struct Loans {
  /// Readers; -1: somebody changes it.
  private var count = 0

  @inline(__always)
  mutating func lend() {
    precondition(count >= 0, "a head was read while it was changed")
    count &+= 1
  }

  @inline(__always)
  mutating func giveBack() { count &-= 1 }

  @inline(__always)
  mutating func take() {
    precondition(count == 0, "a head was changed while it was read")
    count = -1
  }

  @inline(__always)
  mutating func giveAll() { count = 0 }
}
