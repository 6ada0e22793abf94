import Testing

@testable import EventLoops

@Suite struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1", "127.0.0.1:80"),
    ("::1", "::1", "[::1]:80"),
    ("[::1]", "::1", "[::1]:80"),
    ("2001:0DB8:0:0::1", "2001:db8::1", "[2001:db8::1]:80"),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.1", "[::ffff:192.0.2.1]:80"),
    ("fe80::1%1", "fe80::1%1", "[fe80::1%1]:80"),
  ]) func readsAndWritesLiterals(literal: String, host: String, text: String) throws {
    let address = try #require(SocketAddress(host: literal, port: 80))
    #expect(address.host == host)
    #expect(address.text == text)
    let copy = address.withKernelForm { pointer, length in
      SocketAddress(kernelForm: UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }
    #expect(copy == address)
  }

  @Test(arguments: [
    "", "localhost", "127.0.0.1:80", "1.2.3", "256.0.0.1", "[127.0.0.1]", "::1%", "::1%nosuch0", "[::1",
  ])
  func refusesWhatIsNoLiteral(text: String) {
    #expect(SocketAddress(host: text, port: 80) == nil)
  }

  @Test func knowsLoopback() throws {
    #expect(try #require(SocketAddress(host: "127.8.9.1", port: 0)).isLoopback)
    #expect(try #require(SocketAddress(host: "::1", port: 0)).isLoopback)
    #expect(try !#require(SocketAddress(host: "128.0.0.1", port: 0)).isLoopback)
    #expect(try !#require(SocketAddress(host: "::", port: 0)).isLoopback)
  }

  @Test func shortKernelFormsAreRefused() throws {
    let address = try #require(SocketAddress(host: "::1", port: 80))
    address.withKernelForm { pointer, length in
      for count in 0..<Int(length) {
        #expect(SocketAddress(kernelForm: UnsafeRawBufferPointer(start: pointer, count: count)) == nil)
      }
    }
  }
}
