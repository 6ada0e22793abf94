import EventLoopsTestSupport
import Testing

@testable import EventLoops

@Suite struct FileWatcherTests {
  private func watch(_ folder: TemporaryFolder, _ names: [String], _ bell: Bell) throws -> FileWatcher {
    try FileWatcher(files: names.map(folder.file), settle: .milliseconds(20)) { _ in bell.ring() }
  }

  @Test func seesARenameOverTheFileAndAWriteInPlace() throws {
    let folder = try TemporaryFolder()
    try folder.write("old", to: "gateway.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["gateway.yaml"], bell)
    try folder.write("new", to: "gateway.yaml.tmp")
    try folder.move("gateway.yaml.tmp", to: "gateway.yaml")
    #expect(bell.wait())
    try folder.write("newer", to: "gateway.yaml")
    #expect(bell.wait())
    // Another file of the folder is nobody's concern.
    try folder.write("x", to: "other.yaml")
    #expect(!bell.ringsAgain())
    withExtendedLifetime(watcher) {}
  }

  @Test func seesASwapOfALinkedFolder() throws {
    let folder = try TemporaryFolder()
    // As a mounted ConfigMap: file -> ..data/file, ..data -> a folder by date.
    try folder.makeFolder("..2026_1")
    try folder.write("old", to: "..2026_1/gateway.yaml")
    try folder.link("..data", to: "..2026_1")
    try folder.link("gateway.yaml", to: "..data/gateway.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["gateway.yaml"], bell)
    for round in 2...3 {
      try folder.makeFolder("..2026_\(round)")
      try folder.write("new", to: "..2026_\(round)/gateway.yaml")
      try folder.link("..data_tmp", to: "..2026_\(round)")
      try folder.move("..data_tmp", to: "..data")
      #expect(bell.wait(), "round \(round)")
    }
    withExtendedLifetime(watcher) {}
  }

  @Test func followsALinkIntoAnotherFolder() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("near")
    try folder.makeFolder("far")
    try folder.write("old", to: "far/real.yaml")
    try folder.link("near/gateway.yaml", to: "../far/real.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["near/gateway.yaml"], bell)
    try folder.write("new", to: "far/real.tmp")
    try folder.move("far/real.tmp", to: "far/real.yaml")
    #expect(bell.wait())
    withExtendedLifetime(watcher) {}
  }

  @Test func seesAFileComeAndGoEvenWithItsFolder() throws {
    let folder = try TemporaryFolder()
    let bell = Bell()
    let watcher = try watch(folder, ["routes/a.yaml"], bell)
    try folder.makeFolder("routes")
    try folder.write("a", to: "routes/a.yaml")
    #expect(bell.wait())
    try folder.move("routes", to: "away")
    #expect(bell.wait())
    withExtendedLifetime(watcher) {}
  }

  @Test func watchesOtherFilesWhenTold() throws {
    let folder = try TemporaryFolder()
    try folder.write("a", to: "a.yaml")
    try folder.write("b", to: "b.yaml")
    let bell = Bell()
    let watcher = try watch(folder, ["a.yaml"], bell)
    watcher.watch([folder.file("b.yaml")])
    try folder.write("aa", to: "a.yaml")
    #expect(!bell.ringsAgain())
    try folder.write("bb", to: "b.yaml")
    #expect(bell.wait())
  }

  @Test func aChangeBeforeAFileIsNamedAgainIsNotLost() throws {
    let folder = try TemporaryFolder()
    try folder.write("a", to: "a.yaml")
    let bell = Bell()
    // No look comes between the change and the second call.
    let watcher = try FileWatcher(files: [folder.file("a.yaml")], settle: .milliseconds(300)) { _ in bell.ring() }
    try folder.write("aa", to: "a.yaml")
    watcher.watch([folder.file("a.yaml"), folder.file("b.yaml")])
    #expect(bell.wait())
  }

  @Test func aLoopOfLinksEnds() throws {
    let folder = try TemporaryFolder()
    try folder.link("a", to: "b")
    try folder.link("b", to: "a")
    #expect(WatchedFolders.folders(of: folder.file("a/x.yaml")).contains(folder.path))
  }
}
