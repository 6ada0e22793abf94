import Configuration
import EventLoops
import EventLoopsTestSupport
import Glibc
import Metrics
import Migration
import Synchronization
import Testing

@testable import Gateway

/// What two keepers make of each other's documents, without a network between them.
@Suite struct StageKeeperTests {
  fileprivate static let procedure = "depot.v1.CrateService/Get"

  /// A registry with one route, and its keeper.
  private final class Replica: Sendable {
    let stages = StageRegistry()
    let keeper: StageKeeper
    let told = Mutex<[StageDocument]>([])

    init(_ name: String, file: StageSetting, in folder: TemporaryFolder, admits: Bool = true) throws {
      let sink = try LogSink(.file(path: folder.file("log")))
      keeper = StageKeeper(
        stages: stages, writer: name, replica: name, log: GatewayLog(sink: sink, format: .text),
        metrics: GatewayMetrics(shards: 1)
      ) { _, _ in admits }
      _ = stages.cell(for: StageKeeperTests.procedure, configured: file)
      stages.onChange { [weak keeper] in keeper?.changed($0) }
      keeper.share { [weak self] document in self?.told.withLock { $0.append(document) } }
    }

    func set(_ stage: RouteSettings.Stage) {
      stages.set(StageKeeperTests.procedure, to: StageSetting(stage), StageOrigin(.admin, actor: "me", at: 1))
    }

    var stage: RouteSettings.Stage? { stages.state(of: StageKeeperTests.procedure)?.effective.stage }
    var last: StageDocument? { told.withLock { $0.last } }
  }

  @Test func aChangeIsToldOnceAndNotBack() throws {
    let folder = try TemporaryFolder()
    let one = try Replica("0a", file: StageSetting(.rest), in: folder)
    let two = try Replica("0b", file: StageSetting(.rest), in: folder)
    one.set(.rpc)
    let document = try #require(one.last)
    two.keeper.received(document)
    two.keeper.received(document)
    #expect(two.stage == .rpc)
    #expect(two.told.withLock { $0.isEmpty } && one.told.withLock { $0.count } == 1)
    #expect(two.stages.state(of: Self.procedure)?.history.first?.origin.kind == .peer)
    two.stages.clear(Self.procedure, StageOrigin(.admin, at: 2))
    one.keeper.received(try #require(two.last))
    #expect(one.stage == .rest)
    // Late and old: nothing.
    one.keeper.received(document)
    #expect(one.stage == .rest)
  }

  /// The process ends while a write waits for its moment: what it wrote is not written over with nothing.
  @Test func afterTheLastWriteTheFileIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state")
    let asked = Mutex(0)
    let known = Mutex<StateFileContent?>(StateFileContent([]))
    let file = StateFile(path: path) {
      asked.withLock { $0 += 1 }
      return known.withLock { $0 }
    } failed: { _, message in
      Issue.record("\(message)")
    }
    file.changed()
    file.flush()
    #expect(asked.withLock { $0 } == 1)
    let written = try folder.read("state")
    // The moment that the change was to wait for comes and goes.
    usleep(200_000)
    #expect(asked.withLock { $0 } == 1)
    // Whoever knows what was set is gone.
    known.withLock { $0 = nil }
    file.changed()
    file.flush()
    #expect(asked.withLock { $0 } == 2)
    #expect(try folder.read("state") == written)
  }

  @Test func aTripOfOneIsATripOfAll() throws {
    let folder = try TemporaryFolder()
    let one = try Replica("0a", file: StageSetting(.rpc), in: folder)
    let two = try Replica("0b", file: StageSetting(.rpc), in: folder)
    one.stages.trip(Self.procedure, to: StageSetting(.rest), reason: "errors")
    two.keeper.received(try #require(one.last))
    let state = try #require(two.stages.state(of: Self.procedure))
    #expect(state.effective.stage == .rest && state.trip?.reason == "errors")
  }

  @Test func eachFollowsItsOwnFile() throws {
    let folder = try TemporaryFolder()
    let old = try Replica("0a", file: StageSetting(.rest), in: folder)
    let new = try Replica("0b", file: StageSetting(.shadow), in: folder)
    old.set(.rpc)
    new.keeper.received(try #require(old.last))
    #expect(new.stage == .shadow && new.told.withLock { $0.isEmpty })
    // What lay over the old file before the new process began has ended for good.
    let late = try Replica("0c", file: StageSetting(.shadow), in: folder)
    var early = try #require(old.last)
    early.version = .init(time: 1, writer: "0a")
    late.keeper.received(early)
    let end = try #require(late.last)
    #expect(end.overlay.isEmpty && end.configured == StageSetting(.shadow) && end.version > early.version)
    old.keeper.received(end)
    #expect(old.stage == .rpc)
  }

  /// The files of replicas change one after the other: what is set under the new one by those who have it lasts.
  @Test(arguments: [true, false]) func aReloadTakesUpWhatLiesOverTheNewFileElsewhere(isTrip: Bool) throws {
    let folder = try TemporaryFolder()
    let first = try Replica("0a", file: StageSetting(.rest), in: folder)
    let second = try Replica("0b", file: StageSetting(.rest), in: folder)
    let file = [(procedure: Self.procedure, configured: StageSetting(.rpc))]
    first.stages.publish(file)
    first.keeper.published()
    if isTrip {
      first.stages.trip(Self.procedure, to: StageSetting(.rest), reason: "errors")
    } else {
      first.set(.shadow)
    }
    second.keeper.received(try #require(first.last))
    #expect(second.stage == .rest && second.stages.state(of: Self.procedure)?.overlay.isEmpty == true)
    second.stages.publish(file)
    second.keeper.published()
    #expect(second.stage == (isTrip ? .rest : .shadow))
    let (one, two) = (first.stages.state(of: Self.procedure), second.stages.state(of: Self.procedure))
    #expect(one?.overlay == two?.overlay && two?.history.first?.origin.kind == .peer)
    #expect(second.told.withLock { $0.isEmpty })
    // A file that is new to all ends it, whoever has it first.
    second.stages.publish([(procedure: Self.procedure, configured: StageSetting(.rest))])
    second.keeper.published()
    #expect(second.stage == .rest && second.last?.overlay.isEmpty == true)
  }

  @Test func whatARouteCannotHaveIsLeft() throws {
    let folder = try TemporaryFolder()
    let one = try Replica("0a", file: StageSetting(.rest), in: folder)
    let two = try Replica("0b", file: StageSetting(.rest), in: folder, admits: false)
    one.set(.rpc)
    two.keeper.received(try #require(one.last))
    #expect(two.stage == .rest)
  }

  @Test func aRouteThatComesLaterFindsItsDocument() throws {
    let folder = try TemporaryFolder()
    let one = try Replica("0a", file: StageSetting(.rest), in: folder)
    let two = try Replica("0b", file: StageSetting(.rest), in: folder)
    let other = "depot.v1.CrateService/Other"
    _ = one.stages.cell(for: other, configured: StageSetting(.rest))
    one.stages.set(other, to: StageSetting(.rpc), StageOrigin(.admin, at: 1))
    two.keeper.received(try #require(one.last))
    #expect(two.stages.state(of: other) == nil)
    _ = two.stages.cell(for: other, configured: StageSetting(.rest))
    two.keeper.published()
    #expect(two.stages.state(of: other)?.effective.stage == .rpc)
  }

  @Test func theFileIsWrittenAndReadAndABrokenOneKeptAside() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state")
    let one = try Replica("0a", file: StageSetting(.rest), in: folder)
    one.keeper.keep(in: path)
    one.set(.rpc)
    one.keeper.flush()
    let two = try Replica("0b", file: StageSetting(.rest), in: folder)
    two.keeper.keep(in: path)
    #expect(two.stage == .rpc && two.told.withLock { $0.isEmpty })
    let text = try folder.read("state")
    try folder.write(String(text.dropLast(10)), to: "state")
    let three = try Replica("0c", file: StageSetting(.rest), in: folder)
    three.keeper.keep(in: path)
    #expect(three.stage == .rest)
    #expect(try folder.read("state.broken") == String(text.dropLast(10)))
  }
}
