import Bytes
import HTTPModel
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

/// A small parcel service, and rules over it.
struct Fixture {
  let schema: Schema
  let codec: JSONCodec
  let binding: RESTBinding
  let input: String

  static let messages = """
    google.protobuf.Timestamp: 1 seconds int64, 2 nanos int32
    google.protobuf.Duration: 1 seconds int64, 2 nanos int32
    google.protobuf.FieldMask: 1 paths string repeated
    google.protobuf.Int32Value: 1 value int32
    google.protobuf.StringValue: 1 value string
    google.protobuf.BoolValue: 1 value bool
    google.protobuf.Any: 1 type_url string, 2 value bytes
    google.protobuf.Empty:
    google.api.HttpBody: 1 content_type string, 2 data bytes
    google.rpc.Status: 1 code int32, 2 message string, 3 details google.protobuf.Any repeated
    google.rpc.FieldViolation: 1 field string, 2 description string
    google.rpc.BadRequest: 1 field_violations google.rpc.FieldViolation repeated
    google.rpc.RetryInfo: 1 retry_delay google.protobuf.Duration
    p.Point: 1 lat double, 2 lon double
    p.Address: 1 street string, 2 city string, 3 geo p.Point, 4 unit string oneof=place, 5 floor int32 oneof=place
    p.Parcel: 1 id string, 2 tracking_no string, 3 weight_g int64, 4 size p.Size, 5 tags string repeated, 6 labels map<string;string>, 7 to p.Address, 8 fragile bool, 9 seal bytes
    p.GetReq: 1 id string, 2 view string
    p.ListReq: 1 tag string repeated, 2 size p.Size repeated, 3 only p.Size, 4 note string, 5 page_size int32, 6 to p.Address, 7 seal bytes, 8 since google.protobuf.Timestamp, 9 within google.protobuf.Duration, 10 mask google.protobuf.FieldMask, 11 floor google.protobuf.Int32Value, 12 route p.Point repeated, 13 labels map<string;string>, 14 tracking_no string, 15 odd string json=f[x], 16 card string oneof=pay, 17 cash int32 oneof=pay, 18 d double, 19 f float, 20 b bool, 21 u uint64, 22 s sint32, 23 fx fixed64, 24 opt int32 optional, 25 any google.protobuf.Any, 26 times google.protobuf.Timestamp repeated, 27 nums int32 repeated, 28 self p.ListReq, 29 nothing google.protobuf.Empty, 30 name google.protobuf.StringValue, 31 yes google.protobuf.BoolValue, 32 grp p.Point group, 33 plus string json=a+b, 34 part string json=a%41
    p.ListRes: 1 parcels p.Parcel repeated
    p.CreateReq: 1 depot string, 2 parcel p.Parcel oneof=what, 3 dry_run bool, 4 other string oneof=what
    p.UpdateReq: 1 parcel p.Parcel, 2 update_mask google.protobuf.FieldMask
    p.CancelReq: 1 id string, 2 reason string, 3 secret p.Parcel
    p.NameReq: 1 name string
    p.AtReq: 1 at google.protobuf.Timestamp, 2 n int64, 3 size p.Size, 4 o int32 optional
    p.TagsMsg: 1 id string, 2 tags string repeated, 3 labels map<string;string>, 4 parcel p.Parcel, 5 n int32
    p.ScanReq: 1 id string, 2 scan google.api.HttpBody oneof=what, 3 note string oneof=what
    """

  /// Every type with a JSON form of its own that the parcels have no use for.
  static let wellKnown = """

    google.protobuf.Struct: 1 fields map<string;google.protobuf.Value>
    google.protobuf.Value: 1 null_value google.protobuf.NullValue oneof=kind, 2 number_value double oneof=kind, 3 string_value string oneof=kind, 4 bool_value bool oneof=kind, 5 struct_value google.protobuf.Struct oneof=kind, 6 list_value google.protobuf.ListValue oneof=kind
    google.protobuf.ListValue: 1 values google.protobuf.Value repeated
    google.protobuf.DoubleValue: 1 value double
    google.protobuf.FloatValue: 1 value float
    google.protobuf.Int64Value: 1 value int64
    google.protobuf.UInt64Value: 1 value uint64
    google.protobuf.UInt32Value: 1 value uint32
    google.protobuf.BytesValue: 1 value bytes

    """

  /// - Parameter more: further messages, a line each.
  static func schema(_ more: String = "") throws -> Schema {
    let size = EnumType(
      fullName: "p.Size", values: [("SIZE_UNSPECIFIED", 0), ("SIZE_S", 1), ("SIZE_L", 2)], isOpen: true)
    let null = EnumType(fullName: "google.protobuf.NullValue", values: [("NULL_VALUE", 0)], isOpen: true)
    return try SchemaSketch.schema(messages + wellKnown + more, enums: [size, null])
  }

  init(
    _ input: String, _ output: String, _ rule: HTTPRule, profile: JSONProfile = .standard,
    settings: BindingSettings = BindingSettings(), streams: Bool = false, clientStreams: Bool = false,
    more: String = ""
  ) throws {
    self.input = input
    schema = try Self.schema(more)
    codec = JSONCodec(schema: schema, profile: profile)
    let method = MethodType(
      name: "M", input: try #require(schema.messageIndex(named: input)),
      output: try #require(schema.messageIndex(named: output)), isClientStreaming: clientStreams,
      isServerStreaming: streams,
      idempotency: .unknown, httpRule: rule)
    binding = try RESTBinding.compile(rule: rule, method: method, schema: schema, codec: codec, settings: settings)
  }

  init(
    _ input: String, _ rule: HTTPRule, profile: JSONProfile = .standard,
    settings: BindingSettings = BindingSettings(), streams: Bool = false, clientStreams: Bool = false
  ) throws {
    try self.init(
      input, "p.Parcel", rule, profile: profile, settings: settings, streams: streams, clientStreams: clientStreams)
  }

  /// The request message as JSON, or the refusal as `status code field: description`.
  func receive(
    _ target: String, body: String = "", contentType: String? = nil, unknown: inout [String]
  ) throws -> String {
    var wire = ByteBuffer()
    do throws(RPCError) {
      try receive(target, Array(body.utf8), contentType, &unknown, into: &wire)
    } catch {
      return error.short
    }
    return try json(wire.span, input)
  }

  func receive(_ target: String, body: String = "", contentType: String? = nil) throws -> String {
    var unknown: [String] = []
    return try receive(target, body: body, contentType: contentType, unknown: &unknown)
  }

  func receive(
    _ target: String, _ body: [UInt8], _ contentType: String?, _ unknown: inout [String],
    into wire: inout ByteBuffer
  ) throws(RPCError) {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map { Array($0.utf8) }
    let path = parts[0]
    var builder = RouteTrieBuilder()
    _ = builder.insert(method: "*", template: binding.template, target: 0)
    var captures: [Range<Int>] = []
    let outcome = builder.build().match(method: .get, path: path.span, captures: &captures)
    #expect(outcome == .matched(target: 0), "\(target)")
    let query = parts.count > 1 ? parts[1] : []
    guard let contentType else {
      return try binding.decodeRequest(
        path: path.span, captures: captures, query: query.span, contentType: nil, body: body.span,
        unknown: &unknown, into: &wire)
    }
    let type = Array(contentType.utf8)
    try binding.decodeRequest(
      path: path.span, captures: captures, query: query.span, contentType: type.span, body: body.span,
      unknown: &unknown, into: &wire)
  }

  /// `target [content-type] body`, or the refusal.
  func send(_ json: String) throws -> String {
    send(wire: try wire(json, input))
  }

  func send(wire: [UInt8]) -> String {
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    do throws(RPCError) {
      try binding.encodeRequest(wire.span, target: &target, body: &body, contentType: &type)
    } catch {
      return error.short
    }
    let content = type.map { " [\($0)] " + String(repairing: body.span) } ?? ""
    return String(repairing: target.span) + content
  }

  func wire(_ json: String, _ message: String) throws -> [UInt8] {
    var wire = ByteBuffer()
    var outcome = DecodingOutcome()
    let index = try #require(schema.messageIndex(named: message))
    let bytes = Array(json.utf8)
    try codec.decode(bytes.span, message: index, outcome: &outcome, into: &wire)
    return wire.bytes
  }

  func json(_ wire: Span<UInt8>, _ message: String) throws -> String {
    var json = ByteBuffer()
    let index = try #require(schema.messageIndex(named: message))
    let plain = JSONCodec(schema: schema, profile: .standard)
    try plain.encode(wire, message: index, into: &json)
    return String(repairing: json.span)
  }
}

extension RPCError {
  /// `status code message`, the BadRequest's field in front of the message as it is in it.
  var short: String { "\(httpStatus ?? code.httpStatus) \(code.name) \(message)" }
}

extension ByteBuffer {
  var hexadecimal: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined(separator: " ")
  }
}
