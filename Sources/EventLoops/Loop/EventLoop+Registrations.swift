import CLinux
import Glibc

extension EventLoop {
  /// Reports the readiness of a descriptor to a handler, which is held until ``deregister(_:)``.
  ///
  /// - Parameters:
  ///   - descriptor: open, and deregistered before it is closed.
  ///   - interest: what to report besides `error` and `hangUp`, which always come.
  ///   - exclusive: wakes one of the loops that have registered the same descriptor, not all (EPOLLEXCLUSIVE).
  public func register(
    _ descriptor: CInt, _ interest: Readiness, exclusive: Bool = false, handler: any ReadinessHandler
  ) throws(SystemError) -> Registration {
    let registration = table.insert(
      .init(handler: handler, descriptor: descriptor, interest: interest, isExclusive: exclusive, isInKernel: true))
    let code = control(EPOLL_CTL_ADD, descriptor, interest, exclusive: exclusive, registration)
    if code != 0 {
      withExtendedLifetime(table.remove(registration)) {}
      throw SystemError(call: "epoll_ctl", code: code)
    }
    return registration
  }

  /// Changes what is reported. A system call only when it differs from before; nothing for a registration that is over.
  ///
  /// - Returns: false when the kernel refused; the registration then reports nothing and may be changed again.
  @discardableResult
  public func change(_ registration: Registration, to interest: Readiness) -> Bool {
    guard let entry = table[registration] else { return true }
    if entry.interest == interest && entry.isInKernel { return true }
    if entry.isExclusive { return changeExclusive(registration, entry, to: interest) }
    let operation = entry.isInKernel ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
    let code = control(operation, entry.descriptor, interest, exclusive: false, registration)
    assert(code == 0, "epoll_ctl failed")
    table.update(registration, interest: interest, isInKernel: code == 0 || entry.isInKernel)
    return code == 0
  }

  /// From now on another handler is told of a descriptor's readiness.
  public func handOver(_ registration: Registration, to handler: any ReadinessHandler) {
    let before = table.replaceHandler(of: registration, with: handler)
    withExtendedLifetime(before) {}
  }

  /// Ends the reports at once, also those of events that this tick has already fetched, and lets the handler go.
  public func deregister(_ registration: Registration) {
    guard let entry = table.remove(registration) else { return }
    if entry.isInKernel { removeFromKernel(entry.descriptor) }
    withExtendedLifetime(entry) {}
  }

  /// The kernel does not modify an exclusive registration: it is taken out and put in again.
  private func changeExclusive(
    _ registration: Registration, _ entry: RegistrationTable.Entry, to interest: Readiness
  ) -> Bool {
    if entry.isInKernel { removeFromKernel(entry.descriptor) }
    let code =
      interest.isEmpty ? 0 : control(EPOLL_CTL_ADD, entry.descriptor, interest, exclusive: true, registration)
    table.update(registration, interest: interest, isInKernel: !interest.isEmpty && code == 0)
    return code == 0
  }

  func removeFromKernel(_ descriptor: CInt) {
    var event = epoll_event()
    let result = epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    assert(result == 0, "descriptor closed before it was deregistered")
  }

  /// - Returns: 0, or the errno value.
  private func control(
    _ operation: CInt, _ descriptor: CInt, _ interest: Readiness, exclusive: Bool, _ registration: Registration
  ) -> CInt {
    var event = epoll_event()
    event.events = interest.intersection(.requestable).rawValue | (exclusive ? clinux_epoll_exclusive : 0)
    event.data.u64 = registration.token
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : errno
  }
}
