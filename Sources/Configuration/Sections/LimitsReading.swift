import Diagnostics

extension RootReader {
  mutating func readLimits(_ node: Node) {
    guard let map = MappingReader(node, Sections.limits, context) else { return }
    var limits = configuration.limits
    context.read(map[.message], into: &limits.message) { context.size($0, 1...(1 << 30)) }
    // Who bounds messages means these too, unless he says otherwise.
    if map[.message] != nil { limits.raw = limits.message }
    context.read(map[.raw], into: &limits.raw) { context.size($0, 0...1 << 40) }
    context.read(map[.header], into: &limits.header) { context.size($0, 1 << 10...16 << 20) }
    context.read(map[.fields], into: &limits.fields) { context.integer($0, 8...10_000) }
    context.read(map[.target], into: &limits.target) { context.size($0, 64...1 << 20) }
    context.read(map[.connections], into: &limits.connections) { context.integer($0, 1...10_000_000) }
    context.read(map[.requestsPerConnection], into: &limits.requestsPerConnection) {
      context.integer($0, 0...1_000_000_000)
    }
    context.read(map[.buffers], into: &limits.buffers) { context.size($0, 1...(1 << 39)) }
    context.read(map[.bodyRate], into: &limits.bodyRate) { context.size($0, 0...1 << 30) }
    if limits.buffers < limits.message {
      context.error(
        map[.buffers]?.position ?? map.keyPosition(.message), "all buffers together are smaller than one message",
        cure: "make `buffers` at least as large as `message`")
    }
    if limits.target > limits.header {
      context.error(
        map[.target]?.position ?? map.keyPosition(.header), "a target may be longer than the head around it",
        cure: "make `header` larger than `target`")
    }
    configuration.limits = limits
  }

  mutating func readTimeouts(_ node: Node) {
    guard let map = MappingReader(node, Sections.timeouts, context) else { return }
    var timeouts = configuration.timeouts
    context.read(map[.connect], into: &timeouts.connect) { context.duration($0) }
    context.read(map[.handshake], into: &timeouts.handshake) { context.duration($0) }
    context.read(map[.requestHead], into: &timeouts.requestHead) { context.duration($0) }
    context.read(map[.requestBody], into: &timeouts.requestBody) { context.duration($0) }
    context.read(map[.idle], into: &timeouts.idle) { context.duration($0) }
    context.read(map[.connectionAge], into: &timeouts.connectionAge) { context.duration($0, zeroAllowed: true) }
    context.read(map[.streamIdle], into: &timeouts.streamIdle) { context.duration($0) }
    context.read(map[.upstreamIdle], into: &timeouts.upstreamIdle) { context.duration($0) }
    configuration.timeouts = timeouts
  }
}
