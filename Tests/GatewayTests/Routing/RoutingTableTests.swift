import Bytes
import HTTPModel
import REST
import Testing

@testable import Gateway

@Suite struct RoutingTableTests {
  private func find(_ table: ProcedureTable, _ path: String) -> Int? { table.route(for: Array(path.utf8).span) }

  @Test(arguments: [0, 1, 2, 4, 5, 100, 1000])
  func findsEveryProcedureAndNothingElse(count: Int) {
    let paths = (0..<count).map { (path: "/pkg.v1.Service/Method\($0)", route: $0) }
    let table = ProcedureTable(paths)
    for (path, route) in paths {
      #expect(find(table, path) == route)
      #expect(find(table, path + "/") == nil)
      #expect(find(table, String(path.dropLast())) == paths.first { $0.path == path.dropLast() }?.route)
      #expect(find(table, path.uppercased()) == nil)
    }
    #expect(find(table, "") == nil)
    #expect(find(table, "/") == nil)
  }

  private func group(_ hosts: [String]) -> RouteGroup { GroupBuilder(hosts: hosts).build() }

  private func serves(_ hosts: [String], _ authority: String) -> Bool {
    group(hosts).serves(Array(authority.utf8).span)
  }

  @Test(
    arguments: [
      ([], "anything", true), ([], "", true),
      // Both are in lower case: the one by the parser of heads, the other by that of the configuration.
      (["api.example.com"], "api.example.com", true),
      (["api.example.com"], "api.example.com:8080", true), (["api.example.com"], "example.com", false),
      (["api.example.com"], "api.example.com.evil.test", false), (["api.example.com"], "xapi.example.com", false),
      (["api.example.com"], "", false), (["api.example.com"], ":80", false),
      (["api.example.com:8443"], "api.example.com:8443", true), (["api.example.com:8443"], "api.example.com", false),
      (["*.example.com"], "a.example.com", true), (["*.example.com"], "a.b.example.com:1", true),
      (["*.example.com"], "example.com", false), (["*.example.com"], ".example.com", false),
      (["*.example.com"], "aexample.com", false), (["*.example.com"], "a.example.com.evil.test", false),
      (["a.test", "*.b.test"], "x.b.test", true), (["a.test", "*.b.test"], "b.test", false),
      (["[::1]"], "[::1]", true), (["[::1]"], "[::1]:8080", true), (["[::1]"], "::1", false),
    ] as [([String], String, Bool)])
  func servesItsHosts(hosts: [String], authority: String, expected: Bool) {
    #expect(serves(hosts, authority) == expected)
  }

  @Test func narrowerGroupsComeFirst() {
    #expect(group([]).specificity < group(["*.example.com"]).specificity)
    #expect(group(["*.example.com"]).specificity < group(["a.example.com"]).specificity)
    #expect(group(["*.example.com", "a.test"]).specificity == group(["a.test"]).specificity)
  }

  @Test func aBuilderTakesAProcedureOnce() throws {
    var builder = GroupBuilder(hosts: [])
    let (isNew, isNewAgain) = (
      builder.insertProcedure("/a/B", route: 1), builder.insertProcedure("/a/B", route: 2)
    )
    #expect(isNew && !isNewAgain)
    let built = builder.build()
    #expect(built.procedures.route(for: Array("/a/B".utf8).span) == 1)
  }
}
