package import Diagnostics

/// One service and its methods in declaration order.
package final class ServiceType: Sendable {
  /// With its package: `pivot.content.v1.ContentService`.
  package let fullName: String
  /// The name of the file that declares it.
  package let file: String
  package let methods: [MethodType]

  package init(fullName: String, file: String, methods: [MethodType]) {
    self.fullName = fullName
    self.file = file
    self.methods = methods
  }
}

/// One RPC method.
package struct MethodType: Sendable {
  /// `idempotency_level`: what the method says of being called twice; the raw values are those of the option.
  package enum Idempotency: UInt8, Sendable {
    case unknown = 0
    case noSideEffects = 1
    case idempotent = 2
  }

  package let name: String
  /// Index of the request message in ``Schema/messages``.
  package let input: Int
  /// Index of the response message.
  package let output: Int
  package let isClientStreaming: Bool
  package let isServerStreaming: Bool
  package let idempotency: Idempotency
  /// The `google.api.http` annotation, if there is one.
  package let httpRule: HTTPRule?
  /// Where the annotation, else the method, stands in a `.proto` source; nil from a descriptor set.
  package let position: SourcePosition?

  package init(
    name: String, input: Int, output: Int, isClientStreaming: Bool, isServerStreaming: Bool, idempotency: Idempotency,
    httpRule: HTTPRule?, position: SourcePosition? = nil
  ) {
    self.name = name
    self.input = input
    self.output = output
    self.isClientStreaming = isClientStreaming
    self.isServerStreaming = isServerStreaming
    self.idempotency = idempotency
    self.httpRule = httpRule
    self.position = position
  }
}

/// A rule of `google.api.http`: how one method looks as REST.
package struct HTTPRule: Sendable, Equatable {
  /// An HTTP method token (`GET`, or a `custom` kind such as `HEAD`), or `*` for any.
  package var method: String
  package var path: String
  /// `*`, a field name, or nil for no body.
  package var body: String?
  package var responseBody: String?
  /// One level deep; each is complete in itself.
  package var additionalBindings: [HTTPRule]

  package init(
    method: String, path: String, body: String? = nil, responseBody: String? = nil, additionalBindings: [HTTPRule] = []
  ) {
    self.method = method
    self.path = path
    self.body = body
    self.responseBody = responseBody
    self.additionalBindings = additionalBindings
  }
}
