import Bytes
import HTTP1
import HTTPModel

extension LocalConnection {
  /// - Returns: whether a whole head was there.
  func readHead() -> Bool {
    let hadBegun = parser.hasBegun
    do {
      guard try parser.parse(&input, into: head) else {
        if isInputClosed {
          close()
        } else if parser.hasBegun, !hadBegun {
          schedule(after: limits.request)
        }
        return false
      }
      // Framing is read first: the hop-by-hop fields that are removed contain it.
      let framing = try MessageFraming.ofRequest(head)
      let options = HopByHop.remove(from: head.fields)
      isLast = !ConnectionPersistence.isPersistent(version: head.version, options: options)
      if case .length(let length) = framing, length > limits.body { return refuseBody() }
      bodyReader = BodyReader(framing: framing, limits: limits.headLimits)
      body.removeAll()
      phase = .body
      if !hadBegun { schedule(after: limits.request) }
      if options.expectsContinue, !bodyReader.isComplete, input.isEmpty { sendInterim("HTTP/1.1 100 Continue\r\n\r\n") }
    } catch {
      refuse(error.status, error.reason)
    }
    return true
  }

  /// - Returns: whether the body was whole and the request is handled.
  func readBody() -> Bool {
    do {
      while true {
        switch try bodyReader.next(&input, trailers: trailers) {
        case .data(let count):
          guard body.count + count <= limits.body else { return refuseBody() }
          for index in 0..<count { body.append(input[index]) }
          input.consume(count)
        case .end:
          handle()
          return true
        case .needsMore:
          if isInputClosed { close() }
          return false
        }
      }
    } catch {
      refuse(error.status, error.reason)
      return true
    }
  }

  private func refuseBody() -> Bool {
    refuse(413, "the body is longer than \(limits.body) bytes")
    return true
  }

  private func handle() {
    let response = acceptor.configuration.handler(request)
    isHead = head.method == .head
    head.removeAll()
    parser = RequestHeadParser(limits: limits.headLimits)
    trailers.removeAll()
    guard response.delay > .zero else { return startSending(response) }
    phase = .delayed(response)
    schedule(after: response.delay)
  }

  private var request: LocalRequest {
    LocalRequest(
      method: head.method, path: head.withPath { String(repairing: $0) },
      query: head.withQuery { String(repairing: $0) }, authority: head.authority.withSpan { String(repairing: $0) },
      fields: head.fields.indices.filter { !head.fields.entry(at: $0).isRemoved }.map {
        (head.fields.name(at: $0).lowercased(), head.fields.text(at: $0))
      }, body: body, listener: listener, peer: peer, certificateNames: transport.certificateNames)
  }

  /// Answers a request that cannot be read, or not wholly; the connection ends with it.
  func refuse(_ status: Int, _ reason: String) {
    isLast = true
    isHead = false
    startSending(.failure(status, reason))
  }

  func startSending(_ response: LocalResponse) {
    let fields = FieldBlock()
    for field in response.fields { fields.append(field.name, field.value) }
    HeadWriter.response(
      status: response.status, fields: fields, framing: response.hasBody ? .length(response.body.count) : .none,
      closing: isLast, into: &output)
    if response.hasBody, !isHead { output.append(response.body) }
    body = []
    phase = .sending
    schedule(after: limits.response)
  }
}

extension LocalResponse {
  /// Statuses that never have a body (RFC 9110 section 6.4.1).
  fileprivate var hasBody: Bool { status >= 200 && status != 204 && status != 304 }
}
