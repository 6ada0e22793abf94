extension Fixture {
  static let responses: [Fixture] = [
    .response(
      "length, then another", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 204 No Content\r\n\r\n",
      [
        "HTTP/1.1 200", "Content-Length: 2", "framing length(2)", options(), "body 2: ok", "end",
      ] + bodyless("HTTP/1.1 204", []) + ["closed"]),
    .response(
      "interim responses first",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nConnection: close, x-hop\r\nX-Hop: 1\r\n\r\nrest",
      bodyless("HTTP/1.1 100", []) + bodyless("HTTP/1.1 103", ["Link: </a>"]) + [
        "HTTP/1.1 200", "Connection: close, x-hop", "X-Hop: 1", "framing untilClose", options(close: true),
        "body 4: rest", "end", "closed",
      ]),
    .response(
      "chunks and trailers",
      "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\nEtag: \"x\"\r\n\r\n",
      [
        "HTTP/1.1 200", "Transfer-Encoding: chunked", "framing chunked", options(), "body 11: hello world",
        "trailer Etag: \"x\"", "end", "closed",
      ]),
    .response(
      "no reason, no blank", "HTTP/1.0 404\r\nServer: x\r\n\r\nall the rest\r\n",
      [
        "HTTP/1.0 404", "Server: x", "framing untilClose", options(), "kept Server: x", "body 14: all the rest\r\n",
        "end", "closed",
      ]),
    .response(
      "304 has a length and no body", "HTTP/1.1 304 Not \u{FC}bermodified\r\nContent-Length: 9\r\n\r\n",
      ["HTTP/1.1 304", "Content-Length: 9", "framing none", options(), "body 0: ", "end", "closed"]),
    .response(
      "cut short", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
      [
        "HTTP/1.1 200", "Transfer-Encoding: chunked", "framing chunked", options(), "body 3: hel",
        "refused truncatedBody",
      ]),
  ]
}
