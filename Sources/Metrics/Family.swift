import Synchronization

/// All children of one metric: the same name and label names, each with its own label values.
public final class Family<Child: AnyObject & Sendable>: Sendable {
  public let name: String
  let help: String
  let labels: [String]
  private let maximumChildren: Int
  private let make: @Sendable () -> Child
  private let children = Mutex<[[String]: Child]>([:])

  init(
    name: String, help: String, labels: [String], maximumChildren: Int, make: @escaping @Sendable () -> Child
  ) {
    self.name = name
    self.help = help
    self.labels = labels
    self.maximumChildren = maximumChildren
    self.make = make
    // Without labels there is one child, and it shows as 0 from the start.
    if labels.isEmpty { _ = child([]) }
  }

  /// The child with these label values, in the order of the family's label names; made when it is new.
  ///
  /// Behind the family's cap all new values become one child whose labels are all `other`. Locks: get it once and
  /// hold it. Missing values are empty, surplus ones are dropped.
  public func child(_ labelValues: [String]) -> Child {
    var key = Array(labelValues.prefix(labels.count))
    while key.count < labels.count { key.append("") }
    return children.withLock { children in
      if let known = children[key] { return known }
      if children.count >= maximumChildren {
        key = Array(repeating: "other", count: labels.count)
        if let other = children[key] { return other }
      }
      let child = make()
      children[key] = child
      return child
    }
  }

  /// The child with these label values, and no other: for a label that says what is the case now, such as a version, where
  /// the value before would be read as if it were too.
  ///
  /// - Parameter prepare: called before anybody can see the child.
  public func only(_ labelValues: [String], _ prepare: (Child) -> Void) {
    children.withLock { children in
      let child = children[labelValues] ?? make()
      prepare(child)
      children = [labelValues: child]
    }
  }

  /// All children in the order of their label values.
  public var sorted: [(labelValues: [String], child: Child)] {
    children.withLock { Array($0) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { (labelValues: $0.key, child: $0.value) }
  }
}

public typealias CounterFamily = Family<Counter>
public typealias GaugeFamily = Family<Gauge>
public typealias HistogramFamily = Family<Histogram>
