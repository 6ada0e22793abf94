import EventLoops

/// What the connection wants to hear from its loop.
extension UpstreamConnection {
  func pauseReading() {
    guard !readsPaused else { return }
    readsPaused = true
    updateInterest()
  }

  func resumeReading() {
    guard readsPaused else { return }
    readsPaused = false
    if registration == nil, state == .active { register() }
    updateInterest()
    // The parser may hold bytes that epoll will not report again.
    if state == .active { process() }
    readEnd()
  }

  func unregister() {
    if let registration { worker.loop.deregister(registration) }
    registration = nil
  }

  private func register() {
    guard let descriptor = transport?.descriptor else { return }
    do {
      registration = try worker.loop.register(descriptor, [], handler: self)
    } catch {
      fail(.closed, "\(error)")
    }
  }

  func updateInterest() {
    guard let registration else { return }
    var interest: Readiness = readsPaused ? [] : .readable
    if wantsWritable { interest.insert(.writable) }
    worker.loop.change(registration, to: interest)
  }
}
