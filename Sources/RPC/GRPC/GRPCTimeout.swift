public import HTTPModel
import Bytes

/// The deadline of a gRPC call: `grpc-timeout`, one to eight digits and a unit (gRPC over HTTP/2, Timeout).
public enum GRPCTimeout {
  private static let maximumDigits = 8
  private static let maximumValue = 99_999_999
  /// The greatest timeout of Connect in seconds: a longer one has no meaning, and no sum with it overflows.
  private static let maximumSeconds = 9_999_999

  /// The caller's timeout, nil without one; at most ``ConnectTimeout``'s greatest (116 days).
  ///
  /// - Throws: `invalid_argument` for what does not follow the grammar, or a field given twice.
  public static func duration(_ fields: FieldBlock) throws(RPCError) -> Duration? {
    guard let index = fields.firstIndex(of: .grpcTimeout) else { return nil }
    let duration = fields.count(of: .grpcTimeout) == 1 ? fields.withValue(at: index, { parse($0) }) : nil
    guard let duration else {
      throw RPCError(
        .invalidArgument, "grpc-timeout must be one number of at most 8 digits with a unit, one of H, M, S, m, u, n")
    }
    return min(duration, .seconds(maximumSeconds))
  }

  private static func parse(_ value: Span<UInt8>) -> Duration? {
    let digits = value.count - 1
    guard digits >= 1, digits <= maximumDigits, let number = ASCII.decimal(value.extracting(first: digits)) else {
      return nil
    }
    switch value[digits] {
    case UInt8(ascii: "H"): return .seconds(number * 3_600)
    case UInt8(ascii: "M"): return .seconds(number * 60)
    case UInt8(ascii: "S"): return .seconds(number)
    case UInt8(ascii: "m"): return .milliseconds(number)
    case UInt8(ascii: "u"): return .microseconds(number)
    case UInt8(ascii: "n"): return .nanoseconds(number)
    default: return nil
    }
  }

  /// Appends the field with the time that is left: milliseconds if they have eight digits at most, else rounded up to
  /// seconds, minutes or hours; negative is 0.
  public static func write(milliseconds: Int, into fields: FieldBlock) {
    var value = max(0, milliseconds)
    var unit = UInt8(ascii: "m")
    for (divisor, larger) in [(1_000, UInt8(ascii: "S")), (60, UInt8(ascii: "M")), (60, UInt8(ascii: "H"))] {
      if value <= maximumValue { break }
      value = value / divisor + (value % divisor == 0 ? 0 : 1)
      unit = larger
    }
    var text = ByteBuffer(minimumCapacity: 16)
    text.append(decimal: min(value, maximumValue))
    text.append(unit)
    fields.append(.grpcTimeout, text.span)
  }
}
