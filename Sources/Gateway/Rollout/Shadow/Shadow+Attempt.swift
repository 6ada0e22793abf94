import Bytes
import Configuration
import EventLoops
import HTTPModel
import Metrics
import RPC

/// The way to the other side and back.
extension Shadow: AttemptOwner {
  func attempt(_ attempt: Attempt, interim head: ResponseHead) {}
  func attempt(_ attempt: Attempt, head: ResponseHead) {}

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    defer { buffer.consume(count) }
    guard !isSettled else { return }
    guard received.count + count <= settings.maxBody else {
      skip(.tooLarge)
      return breakOff(.tooLarge)
    }
    guard claim(count) else { return }
    received.append(buffer, 0..<count)
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    timer.cancel()
    self.attempt = nil
    exchangeEnded(status: attempt.head?.status)
    if !isSettled, let head = attempt.head, case .copy(_, let upstream) = purpose {
      other = read(head, &received, trailers, of: upstream)
      compareIfReady()
    }
    close()
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) {
    self.attempt = nil
    fail(failure.kind)
  }

  func attemptCongested(_ attempt: Attempt) {}
  func attemptDrained(_ attempt: Attempt) {}

  func timeIsUp() { fail(.timeout) }

  /// The other side gave no answer.
  private func fail(_ kind: UpstreamFailure.Kind) {
    if !isSettled {
      settle()
      state.error.add(1, shard: worker.index)
    }
    breakOff(kind)
  }

  private func breakOff(_ kind: UpstreamFailure.Kind) {
    exchangeEnded(status: attempt?.head?.status, kind)
    attempt?.cancel()
    attempt = nil
    close()
  }

  /// Reads an answer as the backend's protocol has it.
  func read(
    _ head: ResponseHead, _ body: inout ByteBuffer, _ trailers: FieldBlock, of upstream: Int
  ) -> ShadowAnswer {
    let backend = Backends.backend(for: route.plan, copy.plans.snapshot.upstreams[upstream].dialect)
    copy.replyMetadata.removeAll()
    copy.replyTrailers.removeAll()
    copy.isReplying = true
    if let binding = copy.face.binding, upstream == answering { copy.restBinding = binding }
    do throws(RPCError) {
      return .message(try copy.readReply(backend, head, &body, trailers))
    } catch {
      return .error(error)
    }
  }
}
