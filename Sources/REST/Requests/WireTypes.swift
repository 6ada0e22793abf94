import ProtoJSON

// The codec's walker over wire bytes, by name: the schema loader has one of its own for descriptors.
typealias WireReader = ProtoJSON.WireReader
typealias WireTag = ProtoJSON.WireTag
typealias WireType = ProtoJSON.WireType
typealias WireError = ProtoJSON.WireError
