extension HTTP1Error.Kind {
  /// What is known of each case: its name, the status for a client, the reason.
  var facts: (name: StaticString, status: Int, reason: StaticString) {
    switch self {
    case .bareLineFeed: ("bareLineFeed", 400, "a line ends with LF alone")
    case .bareCarriageReturn: ("bareCarriageReturn", 400, "a CR is not followed by LF")
    case .tooManyBlankLines: ("tooManyBlankLines", 400, "more than two blank lines before the request line")
    case .invalidMethod: ("invalidMethod", 400, "the method is not a token followed by one blank")
    case .methodTooLong: ("methodTooLong", 501, "the method is longer than any known one")
    case .connectMethod: ("connectMethod", 501, "CONNECT is not served")
    case .missingVersion: ("missingVersion", 400, "the request line has no HTTP version")
    case .invalidVersion: ("invalidVersion", 400, "the start line does not have the form of HTTP/1.1")
    case .unsupportedVersion: ("unsupportedVersion", 505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
    case .http2Preface: ("http2Preface", 505, "HTTP/2 is not spoken here")
    case .invalidTarget:
      ("invalidTarget", 400, "the request target has a blank, a control byte or a byte outside ASCII, or is empty")
    case .fragmentInTarget: ("fragmentInTarget", 400, "the request target has a fragment")
    case .targetTooLong: ("targetTooLong", 414, "the request target is longer than the limit")
    case .targetWithoutSlash:
      ("targetWithoutSlash", 400, "the request target is neither a path with a leading slash nor an http or https URI")
    case .asteriskTarget: ("asteriskTarget", 400, "the target * is for OPTIONS only")
    case .missingHost: ("missingHost", 400, "an HTTP/1.1 request needs a Host field")
    case .duplicateHost: ("duplicateHost", 400, "there is more than one Host field")
    case .invalidHost: ("invalidHost", 400, "the host is not a name or address with an optional port")
    case .invalidStatus: ("invalidStatus", 400, "the status is not a number from 100 to 999")
    case .invalidReasonPhrase: ("invalidReasonPhrase", 400, "the reason phrase has a control byte")
    case .headTooLarge: ("headTooLarge", 431, "the field section is larger than the limit")
    case .tooManyFields: ("tooManyFields", 431, "there are more fields than the limit")
    case .fieldNameTooLong: ("fieldNameTooLong", 431, "a field name is longer than the limit")
    case .whitespaceBeforeFields:
      ("whitespaceBeforeFields", 400, "there is whitespace between the start line and the first field")
    case .lineFolding: ("lineFolding", 400, "a field is continued on the next line")
    case .emptyFieldName: ("emptyFieldName", 400, "a field has no name")
    case .invalidFieldName: ("invalidFieldName", 400, "a field name has a byte that is not allowed in tokens")
    case .whitespaceBeforeColon:
      ("whitespaceBeforeColon", 400, "there is whitespace between a field name and its colon")
    case .missingColon: ("missingColon", 400, "a field line has no colon")
    case .invalidFieldValue: ("invalidFieldValue", 400, "a field value has a control byte")
    case .tooManyConnectionOptions:
      ("tooManyConnectionOptions", 400, "the Connection field has more options than the limit")
    case .invalidContentLength: ("invalidContentLength", 400, "the Content-Length is not a plain decimal number")
    case .differingContentLengths: ("differingContentLengths", 400, "there are Content-Length fields that differ")
    case .lengthWithTransferEncoding:
      ("lengthWithTransferEncoding", 400, "there are both Content-Length and Transfer-Encoding")
    case .invalidTransferEncoding:
      ("invalidTransferEncoding", 400, "the Transfer-Encoding is malformed, or chunked is not its last coding")
    case .unsupportedTransferCoding:
      ("unsupportedTransferCoding", 501, "the only transfer coding known here is chunked")
    case .transferEncodingInHTTP10: ("transferEncodingInHTTP10", 400, "HTTP/1.0 has no Transfer-Encoding")
    case .invalidChunkSize: ("invalidChunkSize", 400, "a chunk size is not a hexadecimal number")
    case .chunkSizeTooLarge: ("chunkSizeTooLarge", 400, "a chunk size is out of range")
    case .invalidChunkExtension: ("invalidChunkExtension", 400, "a chunk extension has a control byte")
    case .chunkExtensionTooLong: ("chunkExtensionTooLong", 400, "a chunk extension is longer than the limit")
    case .tooMuchChunkOverhead: ("tooMuchChunkOverhead", 400, "the chunked body has too much framing for its data")
    case .missingChunkEnd: ("missingChunkEnd", 400, "a chunk's data is not followed by CRLF")
    case .truncatedBody: ("truncatedBody", 400, "the connection ended inside the message body")
    }
  }
}
