import Gateway
import HTTPModel
import Testing

@Suite struct MigrationPageTests {
  private let page: LocalResponse
  private let text: String

  init() {
    let handler = AdminHandler(role: .admin(token: "secret"), control: ScriptedControl())
    // Of any address and without a token: it is what asks for the token.
    page = handler.respond(
      to: AdminHandlerTests.request(.get, "/", fields: [], listener: AdminHandlerTests.address("10.0.0.1")))
    text = AdminHandlerTests.text(page)
  }

  private func field(_ name: String) -> String { page.fields.first { $0.name == name }?.value ?? "" }

  @Test func isOneWholePage() {
    #expect(page.status == 200)
    #expect(field("content-type") == "text/html; charset=utf-8")
    #expect(text.hasPrefix("<!doctype html>") && text.hasSuffix("</html>\n"))
    #expect(!text.contains("{{"))
    // One element each; more would have no digest in the policy.
    for tag in ["<style", "<script"] { #expect(text.split(separator: tag).count == 2) }
  }

  @Test func allowsItsOwnScriptAndStyleOnly() {
    let policy = field("content-security-policy")
    #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
    #expect(policy.contains("; script-src 'sha256-") && !policy.contains("unsafe"))
    #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
    for attribute in [" onclick=", " onload=", " onerror=", " style=", "javascript:"] {
      #expect(!text.contains(attribute))
    }
  }

  @Test func asksNobodyElse() {
    for outside in ["https://", "//cdn", "@import", "url(", "innerHTML", "insertAdjacentHTML", "eval("] {
      #expect(!text.contains(outside), "\(outside)")
    }
    // The name of SVG's namespace in the icon is no address.
    #expect(text.split(separator: "http://").count == 2)
  }

  @Test func isNotOnTheProbesListener() {
    let probes = AdminHandler(role: .probes, control: ScriptedControl())
    #expect(probes.respond(to: AdminHandlerTests.request(.get, "/")).status == 404)
  }
}
