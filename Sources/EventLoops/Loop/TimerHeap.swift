/// A binary heap of timers, which know their places in it. It does not hold them: a timer leaves before it ends.
struct TimerHeap {
  private struct Node {
    var key: TimerKey
    var timer: Unmanaged<Timer>
  }

  private var nodes: ContiguousArray<Node> = []

  var count: Int { nodes.count }
  var first: Timer? { nodes.isEmpty ? nil : nodes[0].timer.takeUnretainedValue() }

  func key(at position: Int) -> TimerKey { nodes[position].key }

  mutating func insert(_ timer: Timer) {
    let node = Node(key: timer.key, timer: .passUnretained(timer))
    nodes.append(node)
    siftUp(node, from: nodes.count - 1)
  }

  /// Takes over the timer's own key.
  mutating func update(at position: Int) {
    var node = nodes[position]
    let before = node.key
    node.key = node.timer._withUnsafeGuaranteedRef { $0.key }
    if node.key < before { siftUp(node, from: position) } else { siftDown(node, from: position) }
  }

  mutating func remove(at position: Int) {
    nodes[position].timer._withUnsafeGuaranteedRef { $0.position = -1 }
    let last = nodes.removeLast()
    guard position < nodes.count else { return }
    if last.key < nodes[position].key {
      siftUp(last, from: position)
    } else {
      siftDown(last, from: position)
    }
  }

  private mutating func place(_ node: Node, at position: Int) {
    nodes[position] = node
    node.timer._withUnsafeGuaranteedRef { $0.position = position }
  }

  private mutating func siftUp(_ node: Node, from start: Int) {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard node.key < nodes[parent].key else { break }
      place(nodes[parent], at: position)
      position = parent
    }
    place(node, at: position)
  }

  private mutating func siftDown(_ node: Node, from start: Int) {
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < nodes.count else { break }
      if child + 1 < nodes.count && nodes[child + 1].key < nodes[child].key { child += 1 }
      guard nodes[child].key < node.key else { break }
      place(nodes[child], at: position)
      position = child
    }
    place(node, at: position)
  }
}
