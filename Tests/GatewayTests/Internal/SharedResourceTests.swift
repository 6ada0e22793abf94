import EventLoops
import Synchronization
import Testing

@testable import Gateway

/// One flight for all who wait, and what becomes of its value.
@Suite struct SharedResourceTests {
  typealias Number = SharedResource<Int>

  /// Keeps the flights of the one loop, for the test to end them.
  final class Flights: Sendable {
    /// What stays on the loop.
    final class Begun {
      var completions: [Number.Completion] = []
    }

    let resource: Number
    private let part = Part()
    final class Part: Sendable {}

    init() {
      let part = part
      resource = SharedResource(name: "a number") { worker, completion in
        worker.local(of: part) { Begun() }.completions.append(completion)
      }
    }

    func begun(_ worker: Worker) -> Begun { worker.local(of: part) { Begun() } }
  }

  private let gateway: TestGateway
  private let flights = Flights()

  init() throws { gateway = try TestGateway(Depot.configuration(rest: "http://127.0.0.1:1", rpc: nil)) }

  /// Waits on the loop so many times; says how many of these waits began.
  private func wait(_ count: Int, pause: Duration = .zero, told: Told = Told()) throws -> Int {
    let flights = flights
    return try gateway.onLoop { worker in
      (0..<count).filter { _ in flights.resource.wait(on: worker, pause: pause) { told.add() } }.count
    }
  }

  private func end(_ result: Result<Number.Fetched, InternalFailure>) throws {
    let flights = flights
    let ended = try gateway.onLoop { worker -> Bool in
      guard let completion = flights.begun(worker).completions.popLast() else { return false }
      completion(result)
      return true
    }
    #expect(ended)
  }

  private var current: Int? {
    get throws {
      let flights = flights
      return try gateway.onLoop { flights.resource.current(at: $0.loop.now)?.value }
    }
  }

  private var underWay: Int {
    get throws {
      let flights = flights
      return try gateway.onLoop { flights.begun($0).completions.count }
    }
  }

  /// Counts those who were told.
  final class Told: Sendable {
    private let number = Atomic<Int>(0)
    func add() { number.add(1, ordering: .relaxed) }
    var count: Int { number.load(ordering: .relaxed) }
  }

  private static let failure = Result<Number.Fetched, InternalFailure>.failure(
    InternalFailure(kind: .exchange, reason: "away"))

  private static func value(_ value: Int, usableFor: Duration? = nil) -> Result<Number.Fetched, InternalFailure> {
    .success(.init(value: value, refreshIn: .seconds(3600), usableFor: usableFor))
  }

  @Test func oneFlightServesAllWhoWait() throws {
    let told = Told()
    #expect(try wait(50, told: told) == 50)
    #expect(try underWay == 1)
    #expect(told.count == 0)
    try end(Self.value(7))
    #expect(try current == 7)
    #expect(told.count == 50)
    #expect(flights.resource.generation == 1)
  }

  @Test func afterAFailureNobodyBeginsAnotherAtOnce() throws {
    let told = Told()
    #expect(try wait(2, told: told) == 2)
    try end(Self.failure)
    #expect(try current == nil)
    #expect(told.count == 2)
    #expect(try wait(3, told: told) == 0)
    #expect((try underWay, told.count) == (0, 2))
    #expect(flights.resource.generation == 0)
  }

  @Test func aFlightThatIsWantedComesNoMoreOftenThanItMay() throws {
    #expect(try wait(1, pause: .seconds(3600)) == 1)
    try end(Self.value(1))
    #expect(try wait(1, pause: .seconds(3600)) == 0)
    #expect(try wait(1) == 1)
    try end(Self.value(2))
    #expect(try current == 2)
  }

  @Test func aFailureLeavesTheOldValueAndItsEndTakesIt() throws {
    #expect(try wait(1) == 1)
    try end(Self.value(1, usableFor: .milliseconds(200)))
    #expect(try wait(1) == 1)
    try end(Self.failure)
    let flights = flights
    try gateway.waitUntil { flights.resource.current(at: $0.loop.now) == nil }
    #expect(flights.resource.generation == 1)
  }

  @Test func whatIsDueIsFetchedOnceAndLaterAgainWhenItFails() throws {
    let flights = flights
    let next = try gateway.onLoop { worker in (flights.resource.refresh(on: worker), worker.loop.now) }
    #expect((next.0 > next.1, try underWay) == (true, 1))
    _ = try gateway.onLoop { worker in flights.resource.refresh(on: worker) }
    #expect(try underWay == 1)
    try end(Self.failure)
    let again = try gateway.onLoop { worker in (flights.resource.refresh(on: worker), worker.loop.now) }
    #expect(try underWay == 0)
    #expect(again.0 > again.1 && again.0 <= again.1 + .seconds(1))
  }

  @Test func onlySoManyMayWait() throws {
    let told = Told()
    #expect(try wait(10_000, told: told) == 8192)
    try end(Self.value(1))
    #expect(try current == 1)
    #expect(told.count == 8192)
    #expect(try wait(1) == 1)
  }

  @Test func registriesKeepWhatSomebodyHolds() {
    let registry = ResourceRegistry<String, Int>()
    let make: () -> Number = { SharedResource(name: "a number") { _, _ in } }
    var first: Number? = registry.resource("a", make)
    #expect(registry.resource("a", make) === first)
    #expect(registry.resource("b", make) !== first)
    let made = Told()
    first = nil
    let other = registry.resource("a") {
      made.add()
      return make()
    }
    #expect(made.count == 1)
    withExtendedLifetime(other) {}
  }
}
