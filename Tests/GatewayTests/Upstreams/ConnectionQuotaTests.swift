import Synchronization
import Testing

@testable import Gateway

@Suite("The connections to one upstream of the whole process")
struct ConnectionQuotaTests {
  private final class Wakes: Sendable {
    private let counter = Mutex(0)
    var count: Int { counter.withLock { $0 } }
    func wake() { counter.withLock { $0 += 1 } }
  }

  @Test("whoever waits is woken by the next place that becomes free, once")
  func wakes() {
    let (quota, wakes) = (ConnectionQuota(), Wakes())
    #expect(quota.take(limit: 1))
    #expect(!quota.take(limit: 1))
    quota.wait(loop: 0, limit: 1) { wakes.wake() }
    #expect(wakes.count == 0 && quota.isWaitedFor)
    quota.giveBack()
    #expect(wakes.count == 1 && !quota.isWaitedFor)
    quota.giveBack()
    #expect(wakes.count == 1)
  }

  @Test("a place that came back before anybody waited wakes whoever waits now")
  func missed() {
    let (quota, wakes) = (ConnectionQuota(), Wakes())
    #expect(quota.take(limit: 1))
    quota.giveBack()
    quota.wait(loop: 0, limit: 1) { wakes.wake() }
    #expect(wakes.count == 1 && !quota.isWaitedFor)
  }
}
