import HTTP1
import HTTP1TestSupport
import HTTPModel
import Testing

@Suite("Hop-by-hop fields")
struct HopByHopTests {
  static func block(_ fields: [(String, String)]) -> FieldBlock {
    let block = FieldBlock()
    for (name, value) in fields { block.append(name, value) }
    return block
  }

  @Test("what never goes on is removed, the rest stays in order")
  func always() {
    let fields = Self.block([
      ("a", "1"), ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "close"), ("TE", "gzip, trailers"),
      ("Trailer", "x"), ("Transfer-Encoding", "chunked"), ("Content-Length", "5"), ("Upgrade", "h2c"),
      ("b", "2"), ("HTTP2-Settings", "x"), ("Proxy-Authenticate", "x"), ("Proxy-Authorization", "x"),
      ("Expect", "100-continue"), ("Content-Type", "text/plain"),
    ])
    let options = HopByHop.remove(from: fields)
    #expect(ConnectionTranscript.texts(of: fields) == ["a: 1", "b: 2", "Content-Type: text/plain"])
    #expect(options.acceptsTrailers)
    #expect(options.expectsContinue)
    #expect(!options.close && !options.keepAlive && !options.upgradeToWebSocket)
  }

  @Test("what Connection names goes too, before and behind it and each time, in any case")
  func named() {
    let fields = Self.block([
      ("x-user-id", "1"), ("Connection", "X-User-Id ,\tx-late,, Authorization"), ("X-USER-ID", "2"), ("x-late", "3"),
      ("authorization", "b"), ("connection", "x-second"), ("x-second", "4"), ("x-other", "5"),
    ])
    _ = HopByHop.remove(from: fields)
    #expect(ConnectionTranscript.texts(of: fields) == ["x-other: 5"])
  }

  @Test("what is added afterwards cannot be named")
  func addedLater() {
    let fields = Self.block([("Connection", "x-user-id"), ("x-user-id", "forged")])
    _ = HopByHop.remove(from: fields)
    fields.append("x-user-id", "42")
    #expect(ConnectionTranscript.texts(of: fields) == ["x-user-id: 42"])
    #expect(fields.text(of: "X-User-Id") == "42")
  }

  @Test("Host cannot be named, and naming other hop-by-hop fields hides nothing")
  func special() {
    let fields = Self.block([
      ("Host", "a"), ("Connection", "host, connection, expect, te, upgrade, close"), ("Expect", "100-continue"),
      ("TE", "trailers"), ("Upgrade", "websocket"),
    ])
    let options = HopByHop.remove(from: fields)
    #expect(ConnectionTranscript.texts(of: fields) == ["Host: a"])
    #expect(options.close && options.expectsContinue && options.acceptsTrailers && options.upgradeToWebSocket)
  }

  @Test("options in several fields add up; words that only begin alike are none")
  func several() {
    var options = HopByHop.remove(from: Self.block([("connection", "Keep-Alive"), ("connection", "CLOSE")]))
    #expect(options.keepAlive && options.close)
    options = HopByHop.remove(
      from: Self.block([("connection", "closed, keep-alives, upgrades"), ("upgrade", "websocket")]))
    #expect(options == ConnectionOptions())
  }

  @Test("a websocket needs both fields")
  func webSocket() {
    #expect(!HopByHop.remove(from: Self.block([("upgrade", "websocket")])).upgradeToWebSocket)
    #expect(!HopByHop.remove(from: Self.block([("connection", "upgrade"), ("upgrade", "h2c")])).upgradeToWebSocket)
    #expect(!HopByHop.remove(from: Self.block([("connection", "upgrade")])).upgradeToWebSocket)
    #expect(
      HopByHop.remove(from: Self.block([("upgrade", "WebSocket"), ("connection", "Upgrade")])).upgradeToWebSocket)
  }
}
