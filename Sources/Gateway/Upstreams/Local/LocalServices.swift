import Bytes
import Configuration
import HTTPModel
import ProtobufSchema
import RPC

/// The services that the gateway answers itself (`answer: gateway`), as one loop and one snapshot have them.
final class LocalServices {
  private unowned let worker: Worker
  private let snapshot: Snapshot

  init(_ worker: Worker, _ snapshot: Snapshot) {
    self.worker = worker
    self.snapshot = snapshot
  }

  func serve(_ attempt: Attempt) {
    let procedure = attempt.request.target.withSpan { target in
      var end = 0
      while end < target.count, target[end] != UInt8(ascii: "?") { end += 1 }
      return String(repairing: target.extracting(0..<end))
    }
    LocalExchange(attempt, worker, answerer(of: procedure)).begin()
  }

  private func answerer(of procedure: String) -> any LocalAnswerer {
    let parts = procedure.split(separator: "/", omittingEmptySubsequences: true)
    guard parts.count == 2, let service = GatewayService(rawValue: String(parts[0])) else {
      return Self.unimplemented(procedure)
    }
    switch (service, parts[1]) {
    case (.health, "Check"): return check
    case (.health, "List"): return list
    case (.health, "Watch"): return HealthWatch(worker)
    case (.reflection, "ServerReflectionInfo"), (.reflectionAlpha, "ServerReflectionInfo"):
      guard let files = snapshot.descriptors else { return Self.unimplemented(procedure) }
      return Reflection(files, services: snapshot.serviceNames)
    default: return Self.unimplemented(procedure)
    }
  }

  /// A later release of a service may have methods that are not known here.
  private static func unimplemented(_ procedure: String) -> LocalUnary {
    LocalUnary { _, _ throws(RPCError) in
      throw RPCError(.unimplemented, "the gateway does not answer \(procedure)")
    }
  }

  private var check: LocalUnary {
    LocalUnary { [unowned worker = self.worker] request, reply throws(RPCError) in
      let service = try HealthMessages.service(request)
      guard let status = worker.servingStatus(of: service) else {
        throw RPCError(.notFound, "the gateway has no service \"\(service.prefix(100))\"")
      }
      HealthMessages.write(status, into: &reply)
    }
  }

  private var list: LocalUnary {
    LocalUnary { [unowned worker = self.worker, snapshot = self.snapshot] _, reply throws(RPCError) in
      for service in [""] + snapshot.serviceNames {
        guard let status = worker.servingStatus(of: service) else { continue }
        HealthMessages.writeEntry(service, status, into: &reply)
      }
    }
  }
}
