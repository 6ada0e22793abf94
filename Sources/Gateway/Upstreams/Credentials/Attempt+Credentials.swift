import Configuration
import EventLoops
import HTTP1
import HTTPModel

/// What an attempt knows of the token that it was sent with.
struct AttemptToken {
  let resource: SharedResource<CredentialField>
  unowned let worker: Worker
  /// Of the token that it was sent with; nil before that.
  var generation: Int?
  /// Whether it was sent again with a newer token: that is done once.
  var isReplaced = false
}

/// The credentials of the gateway itself, on their way to an upstream.
extension Attempt {
  /// Between two fetches because an upstream refused a token, over all loops: one that refuses every token must not make
  /// a request to the token endpoint of every call.
  private static let refusalPause: Duration = .seconds(5)

  /// Puts the credentials into the request and asks for a connection, at once or when they are there.
  func authorize(by pooled: PoolCredentials) {
    switch pooled.credentials {
    case .fixed(let field):
      field.apply(to: request.fields)
      pool.serve(self)
    case .token(let resource):
      token = AttemptToken(resource: resource, worker: pooled.worker)
      if serveWithToken() { return }
      let waits = resource.wait(on: pooled.worker) { [self] in
        guard !isOver else { return }
        // The time of a try begins here.
        tries?.begin(request)
        if !serveWithToken() { failWithoutToken(resource) }
      }
      if !waits { failWithoutToken(resource) }
    }
  }

  /// Whether it was given to no endpoint yet because the first token is still being fetched.
  var waitsForToken: Bool { token != nil && token?.generation == nil }

  /// False when there is no token.
  private func serveWithToken() -> Bool {
    guard let token, let current = token.resource.current(at: token.worker.loop.now) else { return false }
    self.token?.generation = current.generation
    current.value.apply(to: request.fields)
    pool.serve(self)
    return true
  }

  private func failWithoutToken(_ resource: SharedResource<CredentialField>) {
    connectionFailed(nil, UpstreamFailure(kind: .credentials, reason: "\(resource.name) is not there"))
  }

  /// Looks whether an answer says that the token is not good, and does what can be done: once, and only for a request
  /// that is still there as a whole, it is sent again with a newer token.
  ///
  /// - Returns: whether the answer is held back, or not wanted any more.
  func replacesToken(refusedBy head: ResponseHead, _ framing: BodyFraming) -> Bool {
    guard let token, let used = token.generation, Self.refusesCredentials(head) else { return false }
    guard !token.isReplaced, canReplay else {
      // For the next ones.
      if !token.isReplaced, token.resource.generation == used {
        _ = token.resource.wait(on: token.worker, pause: Self.refusalPause) {}
      }
      return false
    }
    if token.resource.generation != used {
      sendAgain()
      return true
    }
    guard waitForNewerToken(than: used) else { return false }
    refused = RefusedAnswer(head, framing, awaitsToken: true)
    return true
  }

  /// Begins a flight for a token that is newer than the one that was refused, or waits for the one that is under way.
  ///
  /// - Returns: false when there may be none now.
  func waitForNewerToken(than used: Int) -> Bool {
    guard let token else { return false }
    return token.resource.wait(on: token.worker, pause: Self.refusalPause) { [self] in flightEnded(used) }
  }

  private func flightEnded(_ used: Int) {
    guard !isOver, let token else { return }
    guard refused?.awaitsToken == true || held?.trailers != nil else { return }
    // More of a body may have come meanwhile than is kept.
    if canReplay, token.resource.generation != used, token.resource.current(at: token.worker.loop.now) != nil {
      held = nil
      refused = nil
      sendAgain()
    } else if refused != nil {
      // The answer is what it is.
      deliverRefused()
    } else {
      deliverHeldWhole()
    }
  }

  /// Sends the request once more, with the newest token.
  func sendAgain() {
    token?.isReplaced = true
    let left = connection
    connection = nil
    left?.abandon()
    guard replay() else { return fail(bodyIsGone) }
    // The time of a try begins anew.
    tries?.begin(request)
    if !serveWithToken(), let resource = token?.resource { failWithoutToken(resource) }
  }

  /// 401, or what gRPC says in its place in an answer without messages.
  private static func refusesCredentials(_ head: ResponseHead) -> Bool {
    if head.status == 401 { return true }
    guard let index = head.fields.firstIndex(of: .grpcStatus) else { return false }
    return head.fields.withValue(at: index) {
      $0.count == 2 && $0[0] == UInt8(ascii: "1") && $0[1] == UInt8(ascii: "6")
    }
  }
}
