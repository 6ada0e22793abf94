import Diagnostics
import HTTPModel
package import ProtoJSON
package import ProtobufSchema

extension RESTBinding {
  /// Checks a rule against its method.
  ///
  /// - Parameters:
  ///   - rule: its additional bindings are not looked at: each is compiled as a rule of its own.
  ///   - codec: of the same schema, with the route's JSON profile.
  package static func compile(
    rule: HTTPRule, method: MethodType, schema: Schema, codec: JSONCodec, settings: BindingSettings = BindingSettings()
  ) throws(BindingError) -> RESTBinding {
    let template: PathTemplate
    do { template = try PathTemplate.parse(rule.path) } catch {
      throw BindingError(error.message, column: error.column)
    }
    guard rule.method == "*" || FieldSyntax.isToken(Array(rule.method.utf8).span) else {
      throw BindingError("\"\(rule.method)\" is no HTTP method", part: .method)
    }
    guard schema.messages.indices.contains(method.input), schema.messages.indices.contains(method.output) else {
      throw BindingError("the method \(method.name) has no message types", part: .method)
    }
    var parts = Parts(template: template, httpMethod: rule.method, input: method.input, output: method.output)
    let compiler = BindingCompiler(schema: schema, codec: codec)
    try compiler.bindVariables(&parts)
    try compiler.bindBody(rule.body, &parts)
    try compiler.findTypes(settings.bodyTypes, &parts)
    try compiler.bindResponse(rule.responseBody, &parts)
    compiler.findMask(&parts)
    compiler.judgeReverse(method, &parts)
    return RESTBinding(parts, schema: schema, codec: codec, settings: settings)
  }
}
