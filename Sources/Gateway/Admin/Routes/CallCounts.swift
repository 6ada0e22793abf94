import Metrics

/// Ended calls of every route by answering side since the start, read from the metrics in one pass.
struct CallCounts {
  struct Sides {
    var rest: UInt64 = 0
    var rpc: UInt64 = 0
    var none: UInt64 = 0
  }

  private var sides: [String: Sides] = [:]

  init(_ metrics: GatewayMetrics) {
    for (labels, counter) in metrics.requests.sorted where labels.count > 4 {
      let name = "\(labels[1])/\(labels[2])"
      switch labels[4] {
      case "rest": sides[name, default: Sides()].rest += counter.value
      case "rpc": sides[name, default: Sides()].rpc += counter.value
      default: sides[name, default: Sides()].none += counter.value
      }
    }
  }

  subscript(_ route: Route) -> Sides { sides[route.name] ?? Sides() }
}
