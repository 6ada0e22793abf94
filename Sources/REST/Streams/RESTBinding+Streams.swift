package import HTTPModel
package import RPC

extension RESTBinding {
  /// How the body of a client stream is read, by the request's Content-Type; without one it is JSON.
  ///
  /// - Throws: 415 for a type that is no form of a stream of messages; `invalid_argument` where the rule has no body.
  package func requestForm(_ request: FieldBlock) throws(RPCError) -> StreamReader.Form {
    switch body {
    case .rawWhole, .rawField: return .raw
    case .none: throw RPCError(.unimplemented, "this route streams from the client, and its rule has no body")
    case .whole, .field: break
    }
    guard let index = request.firstIndex(of: .contentType) else { return .json }
    let form: StreamReader.Form? = request.withValue(at: index) { type in
      for name in StreamForm.ndjson.contentTypes where MediaType.matches(type, name) { return .lines }
      return MediaType.isJSON(type) ? .json : nil
    }
    guard let form else {
      throw RPCError(
        .invalidArgument, "this route reads application/x-ndjson or a JSON array", httpStatus: 415,
        headers: [(name: "accept-post", value: "application/x-ndjson, application/json")])
    }
    return form
  }
}
