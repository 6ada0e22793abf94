/// The passage of one call through its interceptors: who was entered is left in reverse order, whatever happened.
struct InterceptorChain {
  private let interceptors: [any Interceptor]
  /// How many were entered.
  private(set) var entered = 0
  private var isEnded = false

  init(_ interceptors: [any Interceptor]) { self.interceptors = interceptors }

  /// The next one to enter; it counts as entered from now on.
  mutating func next() -> (any Interceptor)? {
    guard entered < interceptors.count else { return nil }
    entered += 1
    return interceptors[entered - 1]
  }

  /// One of those that were entered, the outermost is 0.
  subscript(index: Int) -> any Interceptor { interceptors[index] }

  /// The indices of those to leave, innermost first. They are walked by index, so that leaving makes no list.
  var leaving: ReversedCollection<Range<Int>> { (0..<entered).reversed() }

  /// Those to tell the end, innermost first; none the second time.
  mutating func end() -> ReversedCollection<Range<Int>> {
    guard !isEnded else { return (0..<0).reversed() }
    isEnded = true
    return leaving
  }
}
