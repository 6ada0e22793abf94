extension Fixture {
  static let requestBodies: [Fixture] = [
    .request(
      "length", "POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\nhelloGET",
      [
        "POST /c HTTP/1.1 path 2 for a", "Host: a", "Content-Length: 5", "Expect: 100-Continue", "framing length(5)",
        options(expectsContinue: true), "kept Host: a", "body 5: hello", "end", "closed inside a head",
      ]),
    .request(
      "the same length thrice", "PUT /c HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\ncontent-length: 2\r\n\r\nok",
      [
        "PUT /c HTTP/1.1 path 2 for a", "Host: a", "Content-Length: 2, 2", "content-length: 2", "framing length(2)",
        options(), "kept Host: a", "body 2: ok", "end", "closed",
      ]),
    .request(
      "chunks with extensions, trailers and a request behind them",
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\nTE: trailers\r\n\r\n"
        + "5\r\nhello\r\n0006 ; a=\"b\tc\";d\r\n world\r\n00;x\r\nX-Sum: 1 \r\nHost: evil\r\nContent-Length: 3\r\n"
        + "Cookie: c\r\nIf-Modified-Since: d\r\nGrpc-Status: 0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
      [
        "POST /c HTTP/1.1 path 2 for a", "Host: a", "Transfer-Encoding: Chunked", "TE: trailers", "framing chunked",
        options(acceptsTrailers: true), "kept Host: a", "body 11: hello world", "trailer X-Sum: 1",
        "trailer Grpc-Status: 0", "end",
      ] + bodyless("GET / HTTP/1.1 path 1 for a", ["Host: a"]) + ["closed"]),
    .request(
      "no chunks", "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      [
        "POST /c HTTP/1.1 path 2 for a", "Host: a", "Transfer-Encoding: chunked", "framing chunked", options(),
        "kept Host: a", "body 0: ", "end", "closed",
      ]),
    .request(
      "sixteen hexadecimal digits",
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n000000000000000A\r\n01234",
      [
        "POST /c HTTP/1.1 path 2 for a", "Host: a", "Transfer-Encoding: chunked", "framing chunked", options(),
        "kept Host: a", "body 5: 01234", "refused truncatedBody",
      ]),
    .request(
      "cut short", "POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello",
      [
        "POST /c HTTP/1.1 path 2 for a", "Host: a", "Content-Length: 9", "framing length(9)", options(), "kept Host: a",
        "body 5: hello", "refused truncatedBody",
      ]),
  ]
}
