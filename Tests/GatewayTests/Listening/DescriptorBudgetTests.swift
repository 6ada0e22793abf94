import Configuration
import Diagnostics
import EventLoops
import Testing

@testable import Gateway

@Suite struct DescriptorBudgetTests {
  /// Whatever the limit, somebody can connect, an upstream can be asked, and something is left for all else.
  @Test(arguments: [64, 96, 256, 1_024, 4_096, 20_000, 1 << 20], [20, 48, 60])
  func everybodyGetsSome(limit: Int, inUse: Int) {
    let shares = DescriptorBudget.Shares(limit: limit, inUse: inUse)
    #expect(inUse < shares.clients && shares.clients < shares.upstreams && shares.upstreams < limit)
    #expect(shares.connections == shares.clients - inUse)
    #expect(limit - shares.clients <= 512)
  }

  @Test(arguments: [(20, 20), (20, 48), (49, 48)]) func noneLeftIsNoFault(limit: Int, inUse: Int) {
    let shares = DescriptorBudget.Shares(limit: limit, inUse: inUse)
    #expect(shares.connections == 1)
    #expect(shares.clients <= limit && shares.upstreams <= limit)
  }

  @Test func noLimitIsNone() {
    #expect(DescriptorBudget.Shares(limit: .max, inUse: 48).connections == .max)
  }

  @Test func saysWhatCannotBeReached() throws {
    var limits = LimitsConfiguration()
    limits.connections = 500
    let budget = DescriptorBudget()
    #expect(budget.connections(limits) == 500)
    #expect(DescriptorBudget.warning(limits: limits, reachable: 500, file: "x.yaml") == nil)
    budget.begin(limit: 256, inUse: 56)
    #expect(budget.connections(limits) == 175)
    let warning = try #require(DescriptorBudget.warning(limits: limits, reachable: 175, file: "x.yaml"))
    #expect(
      warning.description
        == "x.yaml:1:1: warning: limits.connections is 500, and there are file descriptors for 175 connections of clients; "
        + "let the process open more files (LimitNOFILE, ulimit -n), or lower limits.connections")
  }

  /// Two loops see the same free number; whoever comes second has a client whose request may be on its way.
  @Test func whoWasTakenBeyondTheShareStaysAndOthersWait() throws {
    let address = try #require(SocketAddress(host: "127.0.0.1", port: 0))
    let sockets = try (0..<16).map { _ in try ListeningSocket(address: address, backlog: 1) }
    let budget = DescriptorBudget()
    budget.begin(limit: 16, inUse: 0)
    // Clients have the numbers up to 8, upstreams up to 12; none of them is free.
    #expect(budget.hasRoom(forClientOf: sockets[0], connections: 0), "few clients: nobody asks")
    #expect(budget.allows(client: 7))
    #expect(budget.hasRoom(forClientOf: sockets[0], connections: 0))
    #expect(budget.allows(client: 8), "it stays")
    #expect(!budget.hasRoom(forClientOf: sockets[0], connections: 0), "the next waits, however few there are")
    #expect(!budget.allows(client: 12), "the last are for those who look after the process")

    budget.begin(limit: 1 << 20, inUse: 0)
    #expect(budget.hasRoom(forClientOf: sockets[0], connections: 0))
    #expect(budget.allows(client: 100))
  }
}
