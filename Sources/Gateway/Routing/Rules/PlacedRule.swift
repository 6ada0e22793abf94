import Configuration
import Diagnostics
import ProtobufSchema
import REST

/// One HTTP rule of a method, additional bindings taken apart, and where somebody wrote it.
struct PlacedRule {
  let rule: HTTPRule
  /// Where faults of it are reported: its path, its annotation, or what is configured for its service.
  let position: SourcePosition
  /// Of the template's first character, where that can be said.
  private let template: SourcePosition?
  private let body: SourcePosition?
  private let responseBody: SourcePosition?
  /// The `.proto` file whose annotation it is, when its place there is not known.
  private let file: String?

  /// A rule of the configuration, or of a service configuration file.
  init(_ rule: HTTPRuleConfiguration) {
    self.rule = HTTPRule(rule)
    position = rule.position
    template = rule.templatePosition
    body = rule.bodyPosition
    responseBody = rule.responseBodyPosition
    file = nil
  }

  /// An annotation.
  ///
  /// - Parameter fallback: the place in the configuration that brought its service in.
  init(_ rule: HTTPRule, of method: MethodType, in file: String, fallback: SourcePosition) {
    self.rule = rule
    position = method.position ?? fallback
    self.file = method.position == nil ? file : nil
    (template, body, responseBody) = (nil, nil, nil)
  }

  /// `GET /v1/x`, and where it stands.
  var description: String { "\(name) \(file.map { "in \($0)" } ?? "at \(place)")" }

  var name: String { "\(rule.method) \(rule.path)" }

  private var place: String { "\(position.file):\(position.line):\(position.column)" }

  /// - Parameter isSecret: whether a part of the rule is; then neither it nor what is wrong with it is shown.
  func fault(_ error: BindingError, of procedure: String, isSecret: Bool) -> Diagnostic {
    let column = error.column.map { " at column \($0)" } ?? ""
    if isSecret {
      return Diagnostic(
        at: position(of: error),
        "\(procedure): the rule is wrong\(column), and a part of it comes from outside the file",
        cure: "write it into the file")
    }
    let origin = file.map { " (google.api.http in \($0))" } ?? ""
    return Diagnostic(
      at: position(of: error), "\(procedure): the rule \(name)\(origin) is wrong\(column): \(error.message)")
  }

  private func position(of error: BindingError) -> SourcePosition {
    if let column = error.column, let template {
      return SourcePosition(file: template.file, line: template.line, column: template.column + column - 1)
    }
    switch error.part {
    case .body: return body ?? position
    case .responseBody: return responseBody ?? position
    case .method, .template: return position
    }
  }
}
