/// The files of `config/demo`, put into the binary so that the demo runs from any folder.
///
/// The folder `Files` beside this file is a link to them.
enum DemoFiles {
  /// What the configuration names, by the names that it uses.
  static let protos = [
    (name: "content.proto", text: text(PackageResources.content_proto)),
    (name: "comment.proto", text: text(PackageResources.comment_proto)),
  ]

  static let configuration = text(PackageResources.turnout_yaml)

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
