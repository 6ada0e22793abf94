/// The comparison of secrets.
public enum SecretComparison {
  /// Whether two texts are the same, in a time that says nothing about where they differ: equally long ones are looked at
  /// as a whole. How long a secret is, is none.
  public static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
