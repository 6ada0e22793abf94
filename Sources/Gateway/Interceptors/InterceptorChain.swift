/// The passage of one call through its interceptors: who was entered is left in reverse order, whatever happened.
struct InterceptorChain {
  private let interceptors: [any Interceptor]
  /// How many were entered.
  private var entered = 0
  private var isEnded = false

  init(_ interceptors: [any Interceptor]) { self.interceptors = interceptors }

  /// Whether all were entered.
  var isThrough: Bool { entered == interceptors.count }

  /// The next one to enter; it counts as entered from now on.
  mutating func next() -> (any Interceptor)? {
    guard entered < interceptors.count else { return nil }
    entered += 1
    return interceptors[entered - 1]
  }

  /// Those that were entered, innermost first.
  var leaving: [any Interceptor] { entered == 0 ? [] : interceptors[0..<entered].reversed() }

  /// Those to tell the end; empty the second time.
  mutating func end() -> [any Interceptor] {
    guard !isEnded else { return [] }
    isEnded = true
    return leaving
  }
}
