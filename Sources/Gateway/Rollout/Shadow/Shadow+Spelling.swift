import Bytes
import Compression
import Configuration
import HTTPModel
import Migration
import REST
import RPC

/// How the rest side's answer is spelt, beside how a REST caller would get the same one once the rpc side answers.
///
/// The comparison of the two sides is by the schema, and says nothing of it: `"count":"2"` and `2` are one number there, and
/// two things to an app in the field.
extension Shadow {
  /// - Parameters:
  ///   - own: what was made of the call's own answer, which passed through.
  ///   - drift: what is known of the answer besides: a value that the schema lacks was dropped, and is no news.
  func spelling(_ own: ShadowAnswer, besides drift: [Difference]) -> [Difference] {
    let dropped = drift.filter { $0.kind == .type }.map(\.path)
    return spelling(own).filter { !dropped.contains($0.path) }
  }

  private func spelling(_ own: ShadowAnswer) -> [Difference] {
    guard settings.spelling != .ignore, case .message(let payload) = own, let tapped, let number = copy.face.binding,
      answering == route.plan.restUpstream
    else { return [] }
    let status = tapped.head.status
    let binding = route.plan.bindings[number]
    if binding.answersRaw || status == 204 || status == 205 { return [] }
    do throws(RPCError) {
      let coding = try copy.replyCoding(tapped.head)
      if coding == .identity || tapped.body.isEmpty { return try spelling(payload, tapped.body.span, binding) }
      var plain = ByteBuffer()
      try copy.decompressReply(tapped.body.span, as: coding, into: &plain)
      return try spelling(payload, plain.span, binding)
    } catch {
      return [Difference(.form, at: "", rpc: .text(error.message))]
    }
  }

  private func spelling(
    _ payload: Payload, _ old: Span<UInt8>, _ binding: RESTBinding
  ) throws(RPCError) -> [Difference] {
    guard let tapped, !old.isEmpty else { return [] }
    var isJSON = true
    var isProtobuf = false
    if let index = tapped.head.fields.firstIndex(of: .contentType) {
      tapped.head.fields.withValue(at: index) { type in
        isJSON = MediaType.isJSON(type)
        isProtobuf = ProtobufMediaType(type) != nil
      }
    }
    if isProtobuf { return [] }
    let envelope = route.plan.settings.envelope
    let message = try payload.converted(to: .proto, copy)
    var new = ByteBuffer()
    _ = try message.withSpan { (wire) throws(RPCError) in
      try binding.encodeResponse(wire, envelope: nil, into: &new)
    }
    let other = Difference(.form, at: "", rest: .text("a body without JSON"), rpc: .text("JSON"))
    guard isJSON else { return [other] }
    let range = try binding.unwrap(old, envelope)
    do throws(JSONFault) {
      return try route.plan.comparison.plan.compareSpelling(
        old: old.extracting(range), new: new.span, field: binding.answeredField,
        keepsValues: settings.samples == .values)
    } catch {
      return [other]
    }
  }

  /// Whether one of these makes a dry run's answer a misfit, or the answers of a comparison different.
  func spellingMatters(_ differences: [Difference]) -> Bool {
    settings.spelling == .mismatch && differences.contains { $0.kind.isOfSpelling }
  }
}
