extension Fixture {
  static let requests: [Fixture] = [
    .request(
      "smallest", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      bodyless("GET / HTTP/1.1 path 1 for a", ["Host: a"]) + ["closed"]),
    .request(
      "query, every visible byte in the target",
      "GET /v1/{a}|\"<>\\^`%zz;:@&=+$,~*'()![]?q=1?2&/ HTTP/1.1\r\nhOST: API.Example.com:8080\r\n\r\n",
      bodyless(
        "GET /v1/{a}|\"<>\\^`%zz;:@&=+$,~*'()![]?q=1?2&/ HTTP/1.1 path 33 for api.example.com:8080",
        ["hOST: API.Example.com:8080"]) + ["closed"]),
    .request(
      "whitespace around values is taken off, inside it stays",
      "GET / HTTP/1.1\r\nHost:a\r\nX-A:\t b \t c \t \r\nX-Empty:\r\nX-Blank:   \r\nX-High: \u{E4}\r\n\r\n",
      bodyless(
        "GET / HTTP/1.1 path 1 for a", ["Host: a", "X-A: b \t c", "X-Empty: ", "X-Blank: ", "X-High: \u{E4}"])
        + ["closed"]),
    .request(
      "odd but lawful names and methods",
      "M-SEARCH /x HTTP/1.1\r\n!#$%&'*+-.^_`|~09azAZ: v\r\nHost: a\r\n\r\n",
      bodyless("M-SEARCH /x HTTP/1.1 path 2 for a", ["!#$%&'*+-.^_`|~09azAZ: v", "Host: a"]) + ["closed"]),
    .request(
      "long values cross the vector width",
      "GET /0123456789012345678901234567890123456789 HTTP/1.1\r\nHost: a\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
        + "X-A-Name-Longer-Than-One-Vector: 0123456789\t0123456789\t0123456789\r\n\r\n",
      bodyless(
        "GET /0123456789012345678901234567890123456789 HTTP/1.1 path 41 for a",
        [
          "Host: a", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
          "X-A-Name-Longer-Than-One-Vector: 0123456789\t0123456789\t0123456789",
        ]) + ["closed"]),
    .request(
      "two blank lines come first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
      bodyless("GET / HTTP/1.1 path 1 for a", ["Host: a"]) + ["closed"]),
    .request(
      "pipelined, a blank line between",
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\nGET /3 HT",
      bodyless("GET /1 HTTP/1.1 path 2 for a", ["Host: a"]) + bodyless("GET /2 HTTP/1.1 path 2 for b", ["Host: b"])
        + ["closed inside a head"]),
    .request(
      "HTTP/1.0 without host", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
      [
        "GET / HTTP/1.0 path 1 for ", "Connection: Keep-Alive", "framing none", options(keepAlive: true), "body 0: ",
        "end", "closed",
      ]),
    .request(
      "OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
      bodyless("OPTIONS * HTTP/1.1 path 1 for a", ["Host: a"]) + ["closed"]),
    .request(
      "absolute form", "GET HTTP://A.example:80/x?y HTTP/1.1\r\nHost: a.EXAMPLE:80\r\n\r\n",
      bodyless("GET /x?y HTTP/1.1 path 2 for a.example:80", ["Host: a.EXAMPLE:80"]) + ["closed"]),
    .request(
      "absolute form without path", "GET https://a HTTP/1.1\r\nHost: a\r\n\r\n",
      bodyless("GET / HTTP/1.1 path 1 for a", ["Host: a"]) + ["closed"]),
    .request(
      "absolute form with query only", "GET http://a?b HTTP/1.1\r\nHost: a:\r\n\r\n",
      bodyless("GET /?b HTTP/1.1 path 1 for a", ["Host: a:"]) + ["closed"]),
    .request(
      "absolute form for the server", "OPTIONS http://[::1]:8080 HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
      bodyless("OPTIONS * HTTP/1.1 path 1 for [::1]:8080", ["Host: [::1]:8080"]) + ["closed"]),
    .request(
      "absolute form before another host", "GET http://b:80/x HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n",
      bodyless("GET /x HTTP/1.1 path 2 for b:80", ["X: 1", "host: b:80"]) + ["closed"]),
    .request(
      "absolute form before the same host with a port", "GET http://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n",
      bodyless("GET / HTTP/1.1 path 1 for a:80", ["host: a:80"]) + ["closed"]),
    .request(
      "absolute form before another host in HTTP/1.0", "GET http://b/ HTTP/1.0\r\nHost: a\r\n\r\n",
      bodyless("GET / HTTP/1.0 path 1 for b", ["host: b"]) + ["closed"]),
    .request(
      "absolute form without host in HTTP/1.0", "GET http://B/ HTTP/1.0\r\n\r\n",
      bodyless("GET / HTTP/1.0 path 1 for b", []) + ["closed"]),
    .request(
      "upgrade to a websocket",
      "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: h2c, WebSocket\r\n"
        + "Sec-WebSocket-Key: k\r\n\r\n",
      [
        "GET /ws HTTP/1.1 path 3 for a", "Host: a", "Connection: keep-alive, Upgrade", "Upgrade: h2c, WebSocket",
        "Sec-WebSocket-Key: k", "framing none", options(keepAlive: true, upgradeToWebSocket: true), "kept Host: a",
        "kept Sec-WebSocket-Key: k", "body 0: ", "end", "closed",
      ]),
  ]
}
