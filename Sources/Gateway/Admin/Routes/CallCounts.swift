import Metrics

/// Ended calls of every route by answering side since the start, read from the metrics in one pass.
struct CallCounts {
  struct Sides {
    var rest: UInt64 = 0
    var rpc: UInt64 = 0
    var none: UInt64 = 0
  }

  /// Calls whose chosen side failed, by what came of asking the other one.
  struct Fallbacks {
    var rest: [(outcome: String, count: UInt64)] = []
    var rpc: [(outcome: String, count: UInt64)] = []
  }

  private var sides: [String: Sides] = [:]
  private var fallbacks: [String: Fallbacks] = [:]

  init(_ metrics: GatewayMetrics) {
    for (labels, counter) in metrics.calls.requests.sorted where labels.count > 4 {
      let name = "\(labels[1])/\(labels[2])"
      switch labels[4] {
      case "rest": sides[name, default: Sides()].rest += counter.value
      case "rpc": sides[name, default: Sides()].rpc += counter.value
      default: sides[name, default: Sides()].none += counter.value
      }
    }
    for (labels, counter) in metrics.rollout.fallbacks.sorted where labels.count > 3 {
      let name = "\(labels[0])/\(labels[1])"
      if labels[2] == "rest" {
        fallbacks[name, default: Fallbacks()].rest.append((labels[3], counter.value))
      } else {
        fallbacks[name, default: Fallbacks()].rpc.append((labels[3], counter.value))
      }
    }
  }

  func fallbacks(of route: Route) -> Fallbacks { fallbacks[route.name] ?? Fallbacks() }

  subscript(_ route: Route) -> Sides { sides[route.name] ?? Sides() }
}
