import Bytes
import HTTPModel
import RPC
import Testing

@Suite("gRPC-Web trailers")
struct GRPCWebTrailersTests {
  private func read(_ payload: String) throws(RPCError) -> [String] {
    let trailers = FieldBlock()
    try GRPCWebTrailers.read(bytes(payload).span, into: trailers)
    return lines(trailers)
  }

  @Test func writtenAsOneEnvelope() {
    let trailers = block([("Grpc-Status", "0"), ("gone", "x"), ("x-cost", "a b")])
    trailers.remove(at: 1)
    let payload = "grpc-status: 0\r\nx-cost: a b\r\n"
    let written = text { GRPCWebTrailers.write(trailers, into: &$0) }
    var output = ByteBuffer()
    GRPCWebTrailers.write(trailers, into: &output)
    #expect(output.bytes == [0x80, 0, 0, 0, UInt8(payload.utf8.count)] + bytes(payload))
    #expect(written.hasSuffix(payload))
  }

  @Test func writtenBehindMessages() throws {
    var output = ByteBuffer()
    EnvelopeHead(flags: 0, length: 2).write(into: &output)
    output.append("ab")
    GRPCWebTrailers.write(FieldBlock(), into: &output)
    #expect(output.bytes == [0, 0, 0, 0, 2, 97, 98, 0x80, 0, 0, 0, 0])
  }

  @Test(arguments: [
    "grpc-status: 5\r\nx-a: b\r\n", "grpc-status: 5\nx-a: b\n", "grpc-status:5\r\nx-a:b",
    "GRPC-Status: 5\r\nX-A:  b \r\n",
    "\r\ngrpc-status: 5\r\n\r\nx-a: b\r\n\r\n",
  ])
  func leniently(payload: String) throws {
    #expect(try read(payload) == ["grpc-status: 5", "x-a: b"])
  }

  @Test func valuesAsTheyAre() throws {
    #expect(try read("") == [])
    #expect(try read("a: b: c\r\nempty:\r\nx: \t\r\na: again") == ["a: b: c", "empty: ", "x: ", "a: again"])
    #expect(try read("content-length: 5\r\nset-cookie: a\r\nok: 1\r\nTransfer-Encoding: chunked") == ["ok: 1"])
  }

  @Test(arguments: [
    "no colon", ": empty name", "bad name: x", "a: b\rc: d", "a: \0", " folded: x", "a: b\r\n more", "ä: x",
  ])
  func malformed(payload: String) {
    #expect(refusal { () throws(RPCError) in try read(payload) }?.code == .internal)
  }

  @Test func tooManyFields() throws {
    let most = String(repeating: "a: b\r\n", count: GRPCWebTrailers.maximumFields)
    #expect(try read(most).count == GRPCWebTrailers.maximumFields)
    #expect(refusal { () throws(RPCError) in try read(most + "a: b\r\n") }?.code == .internal)
  }
}

@Suite("gRPC-Web text")
struct GRPCWebTextTests {
  private func decode(
    _ pieces: [ArraySlice<UInt8>], _ direction: EnvelopeReader.Direction = .request
  ) throws -> [UInt8] {
    var decoder = GRPCWebText.Decoder(direction: direction)
    var output = ByteBuffer()
    for piece in pieces {
      let bytes = Array(piece)
      try decoder.decode(bytes.span, into: &output)
    }
    try decoder.finish(into: &output)
    return output.bytes
  }

  private func code(_ pieces: [ArraySlice<UInt8>], _ direction: EnvelopeReader.Direction) -> Code? {
    do {
      _ = try decode(pieces, direction)
      return nil
    } catch {
      return (error as? RPCError)?.code
    }
  }

  @Test func paddedChunksAtEveryCut() throws {
    // "a", "bc", "def", "g" each padded on its own, and a last one without padding.
    let text = bytes("YQ==YmM=ZGVmZw==aGk")
    let expected = bytes("abcdefghi")
    for first in 0...text.count {
      for second in first...text.count {
        #expect(try decode([text[..<first], text[first..<second], text[second...]]) == expected)
      }
    }
  }

  @Test func alphabetsAndEmptyText() throws {
    #expect(try decode([bytes("+/-_")[...]]) == [0xFB, 0xFF, 0xBF])
    #expect(try decode([]) == [])
  }

  @Test(arguments: [
    "A", "YQ=", "=", "YQ=====", "A===", "YWJj=", "YQ=a", "YQ==\n", "YW Jj", "YWJj*", "YWJjA", "YWJ=Z", "ä",
  ])
  func malformed(text: String) {
    let whole = bytes(text)
    for cut in 0...whole.count {
      #expect(code([whole[..<cut], whole[cut...]], .request) == .invalidArgument)
    }
    #expect(code([whole[...]], .response) == .internal)
  }

  @Test func encodedAtEveryCutAndFlush() throws {
    let plain: [UInt8] = Array(0...20)
    var whole = ByteBuffer()
    Base64.encode(plain.span, into: &whole)
    for first in 0...plain.count {
      for second in first...plain.count {
        for flushes in [false, true] {
          var encoder = GRPCWebText.Encoder()
          var output = ByteBuffer()
          for piece in [plain[..<first], plain[first..<second], plain[second...]] {
            encoder.encode(Array(piece).span, into: &output)
            if flushes { encoder.flush(into: &output) }
          }
          encoder.flush(into: &output)
          encoder.flush(into: &output)
          if !flushes { #expect(output.bytes == whole.bytes) }
          #expect(output.count % 4 == 0)
          #expect(try decode([output.bytes[...]]) == plain)
        }
      }
    }
  }
}
