import Bytes
import HTTPModel
import RPC

/// A backend whose answers end as gRPC's do, in HTTP trailers or in an envelope: ``GRPCReplies`` reads them.
protocol GRPCReplying: Backend, StreamBackend {
  var replies: GRPCReplies { get }
}

extension GRPCReplying {
  var stream: (any StreamBackend)? { self }

  func decodeReply(
    _ call: Call, _ head: ResponseHead, body: Span<UInt8>, trailers: FieldBlock, into payload: Payload
  ) throws(RPCError) {
    try replies.read(call, head, body, trailers: trailers, into: payload)
  }

  func readHead(_ call: Call, _ head: ResponseHead) throws(RPCError) -> StreamBeginning {
    try replies.readHead(call, head)
  }

  func readFailure(_ call: Call, _ head: ResponseHead, _ body: Span<UInt8>, trailers: FieldBlock) -> RPCError {
    replies.readFailure(call, head, body, trailers: trailers)
  }

  func readEnd(_ call: Call, _ end: Span<UInt8>?, head: FieldBlock?, trailers: FieldBlock) -> RPCError? {
    replies.readEnd(call, end, head: head, trailers: trailers)
  }
}
