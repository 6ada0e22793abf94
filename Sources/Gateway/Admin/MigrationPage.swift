import Bytes
import TransportSecurity

/// The migration dashboard at `GET /`: one page out of the files in `Admin/Page`, which the build puts into the binary.
///
/// It holds no figure and no secret: its script asks `/routes`, with the token that somebody types in. The content
/// security policy allows its own style and script by their digests and nothing else, so that text from outside could
/// not become script even if the page made a mistake.
enum MigrationPage {
  static let response = LocalResponse(
    status: 200,
    fields: [
      ("content-type", "text/html; charset=utf-8"),
      ("content-security-policy", policy),
      ("x-content-type-options", "nosniff"),
      ("referrer-policy", "no-referrer"),
      ("cross-origin-opener-policy", "same-origin"),
      ("cache-control", "no-cache"),
    ],
    body: document)

  private static let style =
    PackageResources.base_css + PackageResources.table_css + PackageResources.dialogs_css

  /// In the order of their definitions; the last one begins.
  private static let script = [
    Array("\"use strict\";\n".utf8), PackageResources.dom_js, PackageResources.format_js, PackageResources.model_js,
    PackageResources.api_js, PackageResources.rows_js, PackageResources.details_js, PackageResources.samples_js,
    PackageResources.audit_js, PackageResources.config_js, PackageResources.summary_js, PackageResources.change_js,
    PackageResources.token_js, PackageResources.keyboard_js, PackageResources.main_js,
  ].flatMap(\.self)

  private static let document: [UInt8] = {
    var text = String(decoding: PackageResources.page_html, as: UTF8.self)
    text.replace("{{style}}", with: String(decoding: style, as: UTF8.self))
    text.replace("{{script}}", with: String(decoding: script, as: UTF8.self))
    return Array(text.utf8)
  }()

  private static let policy =
    "default-src 'none'; style-src \(source(of: style)); script-src \(source(of: script)); connect-src 'self'; "
    + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// A digest as a policy names it (Content Security Policy level 3, section 2.3.1).
  private static func source(of text: [UInt8]) -> String {
    var encoded = ByteBuffer()
    Base64.encode(SHA256.digest(text).span, into: &encoded)
    return "'sha256-\(String(repairing: encoded.span))'"
  }
}
