import Bytes
import Configuration
import Diagnostics
import EventLoops
import HTTPModel
import JSONValues
import Tracing

@testable import Gateway
@testable import Migration

/// What must hold of any bytes in the fields that the gateway reads for itself: who called, which trace it is, which app,
/// when to come back.
package struct FieldCheck {
  private let plan: ListenerPlan
  private let peer: SocketAddress

  package init?() {
    let position = SourcePosition(file: "", line: 1, column: 1)
    var listener = ListenerConfiguration(
      address: SocketAddressConfiguration(host: "127.0.0.1", port: 0, position: position))
    // 10.0.0.0/8
    listener.trusted = [AddressRange(high: 0, low: 0xFFFF_0A00_0000, bits: 104)]
    plan = ListenerPlan(listener)
    guard let peer = SocketAddress(host: "10.0.0.1", port: 1) else { return nil }
    self.peer = peer
  }

  /// The first property that does not hold. Each line is the value of one field.
  package func fault(_ bytes: [UInt8]) -> String? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 40, omittingEmptySubsequences: false)
      .map { Array($0) }
    if let fault = forwarded(lines) { return fault }
    for line in lines {
      guard let fault = trace(line) ?? agent(line) ?? date(line) else { continue }
      return "\(fault) in \(String(decoding: line, as: UTF8.self))"
    }
    return versions(lines) ?? audit(lines)
  }

  // MARK: Who called

  private func forwarded(_ lines: [[UInt8]]) -> String? {
    let (list, elements) = (FieldBlock(), FieldBlock())
    for line in lines {
      list.append(.xForwardedFor, line.span)
      elements.append(.forwarded, line.span)
    }
    return chain(ForwardedChain.client(in: list, ForwardedForList.self, from: peer, plan), list)
      ?? chain(ForwardedChain.client(in: elements, ForwardedElements.self, from: peer, plan), elements)
  }

  private func chain(_ client: ForwardedClient, _ fields: FieldBlock) -> String? {
    guard let place = client.place else {
      return client.address == peer ? nil : "\(client.address.text) comes from nowhere"
    }
    guard fields.indices.contains(place.field) else { return "a client in field \(place.field)" }
    let count = fields.withValue(at: place.field) { $0.count }
    guard place.offset >= 0, place.offset < count else { return "a client at \(place.offset) of \(count) bytes" }
    return client.address.port == 0 ? nil : "a client with a port: \(client.address.text)"
  }

  // MARK: Traces and apps

  private func trace(_ line: [UInt8]) -> String? {
    var members = 0
    if TraceState.isAcceptable(line.span, members: &members) {
      if members > 32 { return "\(members) members of a trace's state" }
      if line.contains(where: { $0 != 9 && !(0x20..<0x7F).contains($0) }) { return "a trace's state with any bytes" }
    }
    guard let context = TraceContext(traceparent: line.span) else { return nil }
    if context.span == 0 || context.traceHigh | context.traceLow == 0 { return "a trace without a name" }
    var written = ByteBuffer()
    context.write(into: &written)
    if TraceContext(traceparent: written.span) != context { return "\(context) is not what it is written as" }
    return written.bytes[3..<53] == line[3..<53] ? nil : "another trace"
  }

  private func agent(_ line: [UInt8]) -> String? {
    let product = AgentProduct(line.span)
    let (name, version) = (product.name, product.version)
    guard name.lowerBound >= 0, name.upperBound <= line.count, version.lowerBound >= name.lowerBound || version.isEmpty,
      version.upperBound <= line.count
    else { return "a product at \(name), \(version)" }
    return nil
  }

  private func versions(_ lines: [[UInt8]]) -> String? {
    let read = lines.prefix(8).compactMap { line in AppVersion(line.span).map { (line, $0) } }
    for (text, version) in read {
      if version.compared(text.span, to: version, text.span) != 0 { return "a version is not equal to itself: \(text)" }
      for (otherText, other) in read {
        let order = version.compared(text.span, to: other, otherText.span)
        if other.compared(otherText.span, to: version, text.span) != -order { return "no order: \(text), \(otherText)" }
        for (thirdText, third) in read
        where order <= 0 && other.compared(otherText.span, to: third, thirdText.span) <= 0 {
          if version.compared(text.span, to: third, thirdText.span) > 0 {
            return "no order: \(text), \(otherText), \(thirdText)"
          }
        }
      }
    }
    for line in lines.prefix(8) {
      let range = VersionRange(String(decoding: line, as: UTF8.self))
      for (text, _) in read where range != nil && range?.contains(text.span) == nil {
        return "a version is in no range: \(text)"
      }
    }
    return nil
  }

  // MARK: Dates

  /// Seconds since 1970 from which a date is looked at: its first day, and days of 2026 and of 2149.
  private static let moments: [Int64] = [0, 1_796_054_400, 5_678_000_000]

  /// A date is written as one that means the same, whenever it is read; and a pause lasts until then.
  private func date(_ line: [UInt8]) -> String? {
    let fields = FieldBlock()
    fields.append(.retryAfter, line.span)
    for now in Self.moments {
      let pause = RetryPlan.asked(fields, now: WallTime(seconds: now))
      guard let date = HTTPDate.read(line.span, now: now) else {
        if pause != nil, ASCII.decimal(line.span) == nil { return "a pause of neither a number nor a date" }
        continue
      }
      var written = ByteBuffer()
      WallTime(seconds: date).appendHTTPDate(to: &written)
      if Self.moments.contains(where: { HTTPDate.read(written.span, now: $0) != date }) { return "another date" }
      let wanted = UInt64(max(0, date - now)).multipliedReportingOverflow(by: 1_000_000_000)
      // Beyond the year 2262 nobody waits.
      let isBeyond = wanted.overflow || date > Int64.max / 1_000_000_000
      if isBeyond ? (pause ?? 0) < 1 << 60 : pause != wanted.partialValue {
        return "a pause of \(pause.map { "\($0)" } ?? "nothing") at \(now) until \(date)"
      }
    }
    return nil
  }

  // MARK: The audit log

  /// One line, whatever is in it, that says the same when it is read.
  private func audit(_ lines: [[UInt8]]) -> String? {
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    func text(_ index: Int) -> String { texts.isEmpty ? "" : texts[index % texts.count] }
    var origin = StageOrigin(.admin, actor: text(0), reason: text(1), at: 1_700_000_000_000_000_000)
    origin.client = StageOrigin.Client(agent: text(2), showedToken: lines.count % 2 == 0)
    let record = StageChangeRecord(
      procedure: text(3), from: StageSetting(.rest), to: StageSetting(.rpc), origin: origin, action: .moved)
    var line = ByteBuffer()
    JSONValue.object(record.place(text(4), 1) + record.members).write(into: &line)
    let bytes = line.bytes
    guard !bytes.contains(where: { $0 < 0x20 }) else {
      return "more than one line: \(String(decoding: bytes, as: UTF8.self))"
    }
    guard let value = try? JSONValue(parsing: bytes) else {
      return "no JSON: \(String(decoding: bytes, as: UTF8.self))"
    }
    let told = ["actor", "reason", "agent", "procedure", "replica"].map { value[$0]?.text ?? "" }
    return told == (0..<5).map(text) ? nil : "another text: \(told)"
  }
}
