package import Diagnostics

extension RouteSettings {
  /// `shadow:`, which calls are copied to the other side, and how the two answers are compared.
  package struct Shadow: Sendable, Equatable {
    /// What becomes of fields that the schema does not know.
    package enum Unknown: String, Sendable, CaseIterable {
      /// They are counted and listed.
      case report
      /// They make the answers different, besides.
      case mismatch
    }

    /// What becomes of names and values that a REST caller would find written otherwise.
    package enum Spelling: String, Sendable, CaseIterable {
      /// They make the answers different.
      case mismatch
      /// They are counted and listed.
      case report
      /// They are not looked for.
      case ignore
    }

    /// What samples keep of texts and bytes.
    package enum Samples: String, Sendable, CaseIterable {
      /// Their length, and a hash whose key the process made up.
      case hashes
      /// Themselves, cut when they are long.
      case values
    }

    /// Parts per 10,000 of the calls that are copied (Default: 100%).
    package var sample = 10_000
    /// Bytes of a request, and of either answer, beyond which a call is not compared (Default: 1MiB).
    package var maxBody = 1 << 20
    /// Copies of the route that may be under way at the same time, over all loops (Default: 100).
    package var maxInFlight = 100
    /// Copies per second; 0: as many as come (Default: 0).
    package var maxRate = 0
    /// How long a copy may take; nil: as long as a call of the route.
    package var timeout: Duration?
    /// Whether calls that may have side effects are copied too.
    package var unsafe = false
    /// Whether the rest side gets a copy of what the rpc side answers, in the stages rpc and canary.
    package var back = false
    /// Of the value of `back:`, where it is given.
    package var backPosition: SourcePosition?
    /// Paths of fields that may differ.
    package var ignore: [Reference] = []
    /// Paths of repeated fields whose order does not matter.
    package var unordered: [Reference] = []
    package var tolerance: [FieldTolerance] = []
    package var unknown = Unknown.report
    package var spelling = Spelling.mismatch
    package var samples = Samples.hashes
    /// Differing calls of the route that are kept to be looked at; 0: none (Default: 20).
    package var maxSamples = 20
    /// Whether differences are counted by path in the metrics, beside `/routes`.
    package var pathMetrics = false

    package init() {}
  }

  /// By how much the values of one field may differ.
  package struct FieldTolerance: Sendable, Equatable {
    package enum Amount: Sendable, Equatable {
      /// Of numbers: the greatest distance.
      case absolute(Double)
      /// Of numbers: the greatest distance as a part of the greater one.
      case relative(Double)
      /// Of Timestamp and Duration: the greatest distance.
      case time(Duration)
    }

    package var path: Reference
    package var amount: Amount

    package init(path: Reference, amount: Amount) {
      self.path = path
      self.amount = amount
    }
  }
}
