import EventLoops
import Metrics
import RPC

/// A client's connection as its worker sees it, whatever is spoken on it.
protocol OpenConnection: AnyObject {
  /// Place in the worker's table.
  var slot: Int { get set }
  /// Where it is counted.
  var gauge: Gauge { get }
  var origin: ConnectionOrigin { get }
  /// What runs on it.
  var calls: [Call] { get }
  /// Bytes of memory that its buffers take.
  var bufferCapacity: Int { get }

  /// The process is to end: no more requests; those that run are answered.
  func drain()
  /// The time of the drain is over: what runs is answered with the error in its own protocol, and the connection ends
  /// when that is written. One on which there is nothing to write ends at once.
  func endCalls(with error: RPCError)
  /// Ends it now, with what runs on it.
  func cut()
}

/// The gauges of the listener that a connection came in on; not the listener, whose descriptor is to close when it is
/// taken out.
struct ConnectionGauges {
  /// Connections whose protocol is not known yet, too.
  let http1: Gauge
  let http2: Gauge

  init(_ listener: ListenerState) {
    http1 = listener.connections
    http2 = listener.http2Connections
  }
}
