/// Makes documents of the type `bench.v1.Shipment`.
struct ShipmentMaker {
  private var make: ValueMaker
  /// Whether the members of objects stand in an order of their own in this document.
  private var isShuffled = false

  init(seed: UInt64) { make = ValueMaker(seed: seed) }

  private static let statuses = [
    "STATUS_ACCEPTED", "STATUS_IN_TRANSIT", "STATUS_AT_HUB", "STATUS_OUT_FOR_DELIVERY", "STATUS_DELIVERED",
    "STATUS_RETURNED",
  ]

  mutating func chance(_ percent: Int) -> Bool { make.chance(percent) }

  /// The outer object around parcels that ``parcel(size:)`` made.
  mutating func shipment(_ parcels: [JSONTree]) -> JSONTree {
    let members: [(String, JSONTree)] = [
      ("id", make.identifier("shp")), ("createdAt", make.timestamp()), ("parcels", .array(parcels)),
    ]
    return object(members)
  }

  /// Decides about the next document.
  mutating func begin() { isShuffled = make.chance(50) }

  private mutating func object(_ members: [(String, JSONTree)]) -> JSONTree {
    var members = members
    if isShuffled { make.shuffle(&members) }
    return .object(members.map { (name: $0.0, value: $0.1) })
  }

  /// A parcel with some of its fields, in the order of the schema unless the document is shuffled.
  ///
  /// - Parameters:
  ///   - share: how many of a hundred fields it has; fewer with little room, else those would be the first ones.
  ///   - room: bytes that it should have at most; members that do not go in are left out.
  mutating func parcel(share: Int, room: Int, indentation: Int?) -> JSONTree {
    var members: [(String, JSONTree)] = [("id", make.identifier("pcl"))]
    var rest = room - 40
    let share = max(8, min(share, room * share / 1_500))
    for field in Self.fields where make.chance(share) {
      let value = field.value(&self)
      let size = value.written(indentation: indentation).count + field.name.count + 6
      guard size <= rest else { continue }
      rest -= size
      members.append((field.name, value))
    }
    if rest > 200, make.chance(share) { members.append(delivery()) }
    return object(members)
  }

  private typealias Field = (name: String, value: @Sendable (inout ShipmentMaker) -> JSONTree)

  private static let fields: [Field] = [
    ("title", { $0.make.sentence(2...6) }),
    ("weightMg", { $0.make.int64() }),
    ("pieceCount", { $0.make.small(200) }),
    ("shelf", { $0.make.int32(signed: false) }),
    ("barcode", { $0.make.int64(signed: false) }),
    ("temperatureMilliCelsius", { $0.make.int32() }),
    ("balanceMicros", { $0.make.int64() }),
    ("checksum", { $0.make.int32(signed: false) }),
    ("tracker", { $0.make.int64(signed: false) }),
    ("offset", { $0.make.int32() }),
    ("ledger", { $0.make.int64() }),
    ("value", { $0.make.double() }),
    ("volumeLitres", { $0.make.float() }),
    ("isFragile", { $0.make.bool() }),
    ("status", { $0.status() }),
    ("seal", { $0.make.base64(6...60) }),
    ("origin", { $0.address() }),
    ("destination", { $0.address() }),
    ("events", { $0.list(1...4) { $0.event() } }),
    ("dimensionsMm", { $0.list(3...3) { $0.make.small(2_000) } }),
    ("tags", { $0.list(1...5) { $0.make.text($0.make.words(1...1)) } }),
    ("readings", { $0.list(1...8) { $0.make.double() } }),
    ("history", { $0.list(1...4) { $0.status() } }),
    ("attributes", { $0.map(1...6, "attr") { $0.make.sentence(1...4) } }),
    ("countsByHub", { $0.map(1...5, "hub") { $0.make.int64() } }),
    ("prices", { $0.numberMap(1...3) { $0.money() } }),
    ("insuredMicros", { $0.make.int64() }),
    ("remark", { $0.make.sentence(1...5) }),
    ("isInsured", { $0.make.bool() }),
    ("discount", { $0.make.double() }),
    ("shippedAt", { $0.make.timestamp() }),
    ("transit", { $0.make.duration() }),
    ("metadata", { $0.metadata() }),
    ("priority", { $0.make.small(4) }),
  ]

  private mutating func list(_ count: ClosedRange<Int>, _ element: (inout ShipmentMaker) -> JSONTree) -> JSONTree {
    let total = count.lowerBound + make.below(count.count)
    return .array((0..<total).map { _ in element(&self) })
  }

  private mutating func map(
    _ count: ClosedRange<Int>, _ prefix: String, _ value: (inout ShipmentMaker) -> JSONTree
  ) -> JSONTree {
    let total = count.lowerBound + make.below(count.count)
    return .object((0..<total).map { (name: "\(prefix)-\($0)-\(make.below(10_000))", value: value(&self)) })
  }

  private mutating func numberMap(
    _ count: ClosedRange<Int>, _ value: (inout ShipmentMaker) -> JSONTree
  ) -> JSONTree {
    let total = count.lowerBound + make.below(count.count)
    return .object((0..<total).map { (name: String($0 * 1_000 + make.below(1_000)), value: value(&self)) })
  }

  // MARK: Messages

  private mutating func status() -> JSONTree {
    make.chance(95) ? make.text(make.pick(Self.statuses)) : .bare(String(make.below(6) + 1))
  }

  private mutating func address() -> JSONTree {
    var members: [(String, JSONTree)] = [
      ("name", make.text(make.words(2...3))), ("lines", list(1...2) { $0.make.sentence(2...4) }),
      ("city", make.text(make.words(1...1))), ("postalCode", make.text(String(make.below(90_000) + 10_000))),
      ("countryCode", make.text(make.pick(["JP", "DE", "FR", "US", "KR", "BR"]))),
    ]
    if make.chance(50) {
      members.append(
        ("position", object([("latitude", make.coordinate(90)), ("longitude", make.coordinate(180))])))
    }
    return object(members)
  }

  private mutating func event() -> JSONTree {
    object([
      ("at", make.timestamp()), ("status", status()), ("hub", make.text("hub-\(make.below(500))")),
      ("message", make.sentence(2...8)), ("sequence", make.int64()),
    ])
  }

  private mutating func money() -> JSONTree {
    object([
      ("currencyCode", make.text(make.pick(["EUR", "JPY", "USD"]))), ("units", make.int64()),
      ("nanos", make.small(1_000_000_000)),
    ])
  }

  private mutating func delivery() -> (String, JSONTree) {
    switch make.below(3) {
    case 0: ("locker", object([("station", make.identifier("st")), ("box", make.small(99))]))
    case 1: ("doorstepNote", make.sentence(3...9))
    default: ("pickupCode", make.int64())
    }
  }

  private mutating func metadata() -> JSONTree {
    .object([
      (name: "source", value: make.text(make.words(1...1))), (name: "score", value: make.double()),
      (name: "isTest", value: make.bool()), (name: "parent", value: .bare("null")),
      (name: "steps", value: .array([make.small(10), make.sentence(1...3)])),
    ])
  }
}
