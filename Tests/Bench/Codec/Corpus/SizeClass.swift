/// Documents of one size.
enum SizeClass: String, CaseIterable {
  case small = "300B"
  case medium = "1KB"
  case large = "10KB"
  case huge = "100KB"
  case giant = "1MB"

  var bytes: Int {
    switch self {
    case .small: 300
    case .medium: 1_000
    case .large: 10_000
    case .huge: 100_000
    case .giant: 1_000_000
    }
  }

  /// How many there are: more than a processor can learn by heart.
  var count: Int {
    switch self {
    case .small: 1_024
    case .medium: 512
    case .large: 256
    case .huge: 32
    case .giant: 4
    }
  }

  /// One document of about this size.
  func document(_ maker: inout ShipmentMaker) -> [UInt8] {
    maker.begin()
    let indentation = maker.chance(25) ? 0 : nil
    var parcels: [JSONTree] = []
    var rest = bytes - maker.shipment([]).written(indentation: indentation).count
    repeat {
      // Parcels of all fillings, and the last one so that the size is met.
      let parcel = maker.parcel(share: 35, room: rest, indentation: indentation)
      rest -= parcel.written(indentation: indentation).count
      parcels.append(parcel)
    } while rest > 60
    return maker.shipment(parcels).written(indentation: indentation)
  }
}
