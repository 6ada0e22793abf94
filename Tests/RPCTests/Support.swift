import Bytes
import HTTPModel
import RPC
import Testing

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ write: (inout ByteBuffer) -> Void) -> String {
  var buffer = ByteBuffer()
  write(&buffer)
  return String(repairing: buffer.span)
}

func block(_ fields: [(String, String)]) -> FieldBlock {
  let block = FieldBlock()
  for (name, value) in fields { block.append(name, value) }
  return block
}

/// The fields that are not removed, as `name: value`.
func lines(_ block: FieldBlock) -> [String] {
  block.indices.filter { !block.entry(at: $0).isRemoved }.map { "\(block.name(at: $0)): \(block.text(at: $0))" }
}

/// The error that a call throws; records an issue when it throws none.
func refusal<R>(
  of body: () throws(RPCError) -> R, sourceLocation: SourceLocation = #_sourceLocation
) -> RPCError? {
  do throws(RPCError) {
    _ = try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    return nil
  } catch {
    return error
  }
}
