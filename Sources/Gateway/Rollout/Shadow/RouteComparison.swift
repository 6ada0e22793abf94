import Configuration
import Migration
import ProtoJSON
import ProtobufSchema
import Synchronization

/// How the answers of one route are compared; made when the first are, since most routes never are shadowed.
final class RouteComparison: Sendable {
  private struct Made {
    let plan: ComparisonPlan
    let codec: JSONCodec
  }

  private let schema: Schema
  private let output: Int
  private let settings: RouteSettings.Shadow
  private let profile: JSONCodec
  private let codecs: TolerantCodecs
  private let made = Mutex<Made?>(nil)

  /// - Parameters:
  ///   - output: the answer's message.
  ///   - profile: the codec of the route's REST side.
  init(_ schema: Schema, output: Int, _ settings: RouteSettings.Shadow, profile: JSONCodec, codecs: TolerantCodecs) {
    self.schema = schema
    self.output = output
    self.settings = settings
    self.profile = profile
    self.codecs = codecs
  }

  var plan: ComparisonPlan { compiled().plan }

  /// Reads the rest side's answers as the route does, but drops members that the schema lacks where the route refuses
  /// them: they are what a comparison is to find.
  var tolerantCodec: JSONCodec { compiled().codec }

  private func compiled() -> Made {
    made.withLock { made in
      if let made { return made }
      let new = Made(
        plan: ComparisonPlan(schema, message: output, rules: ComparisonRules(settings)),
        codec: codecs.codec(like: profile))
      made = new
      return new
    }
  }
}

/// The codecs of a snapshot that drop unknown members, one for each profile that is asked for.
final class TolerantCodecs: Sendable {
  private let known = Mutex<[JSONProfile: JSONCodec]>([:])

  func codec(like codec: JSONCodec) -> JSONCodec {
    guard codec.profile.unknownFields == .reject else { return codec }
    var profile = codec.profile
    profile.unknownFields = .ignore
    return known.withLock { known in
      if let same = known[profile] { return same }
      let tolerant = JSONCodec(
        schema: codec.schema, profile: profile, maximumDepth: codec.maximumDepth, maximumOutput: codec.maximumOutput)
      known[profile] = tolerant
      return tolerant
    }
  }
}
