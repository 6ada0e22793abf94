package import Diagnostics

extension RouteSettings {
  /// One of the two backends of a route.
  package enum Side: String, Sendable, CaseIterable {
    case rest
    case rpc
  }

  /// `canary:`, who is answered by the rpc side in stage canary.
  package struct Canary: Sendable, Equatable {
    /// Parts per 10,000 of the callers; nil: not given, then a ramp's first step.
    package var percent: Int?
    /// What a caller is known by, the first that a call has; behind them its address.
    package var stickyBy: [StickyKey] = []
    /// What is hashed with the key: routes with the same salt choose the same callers; nil: the service's name.
    package var salt: String?
    /// In their order; the first that applies decides before the share does.
    package var rules: [CanaryRule] = []
    package init() {}
  }

  /// What a caller is known by.
  package enum StickyKey: Sendable, Equatable {
    /// The name in lower case.
    case header(String)
    case cookie(String)
    /// Of the call's verified token.
    case claim(String)
    /// Of IPv6 the network of 64 bits.
    case clientAddress

    /// As the file has it.
    package var text: String {
      switch self {
      case .header(let name): "header:\(name)"
      case .cookie(let name): "cookie:\(name)"
      case .claim(let name): "claim:\(name)"
      case .clientAddress: "client_address"
      }
    }
  }

  /// `{ when: { … }, use: rpc }`
  package struct CanaryRule: Sendable, Equatable {
    /// All of them have to hold; at least one.
    package var conditions: [CanaryCondition]
    package var use: Side

    package init(conditions: [CanaryCondition], use: Side) {
      self.conditions = conditions
      self.use = use
    }
  }

  /// One condition of a rule.
  package enum CanaryCondition: Sendable, Equatable {
    /// The name in lower case. Of a header that comes several times, the first counts.
    case header(String, HeaderTest)
    case protocols([CallerProtocol])
    case addresses([AddressRange])
  }

  /// What a rule asks of a header's value.
  package enum HeaderTest: Sendable, Equatable {
    case equals(String)
    case present(Bool)
    case prefix(String)
    case oneOf([String])
    /// Constraints such as `>=5.2.0, <6`, not parsed yet.
    case version(Reference)
  }

  /// What a caller speaks.
  package enum CallerProtocol: String, Sendable, CaseIterable {
    case rest
    case connect
    case grpc
    case grpcWeb = "grpc-web"
  }

  /// `override:`, testers who choose the side themselves.
  package struct Override: Sendable, Equatable {
    /// The name in lower case (Default: x-turnout-side).
    package var header = "x-turnout-side"
    /// What has to stand behind the side, `rpc; SECRET`; nil: only the address allows it.
    package var secret: String?
    /// Who may do so without the secret.
    package var addresses: [AddressRange] = []
    package init() {}
  }

  /// `guard:`, what takes a route back from the rpc side.
  package struct Guard: Sendable, Equatable {
    package enum Action: String, Sendable, CaseIterable {
      /// A canary's share becomes 0, a route in stage rpc goes back to rest (the default).
      case rollback
      /// A ramp is held.
      case hold
      /// It is only told.
      case alert
    }

    /// How long back it looks (Default: 60s).
    package var window: Duration = .seconds(60)
    /// Calls of the rpc side in the window before anything is judged.
    package var minimumRequests: Int
    /// Parts per 10,000 of the calls that may fail; so for the other rates.
    package var maximumErrorRate: Int?
    /// In hundredths: how many times the rest side's rate of failures, and that of the callers' faults, it may have.
    package var maximumErrorRateRatio: Int?
    /// In hundredths: how many times the rest side's 95th percentile it may take.
    package var maximumLatencyRatio: Int?
    /// Of the compared answers.
    package var maximumMismatchRate: Int?
    package var action = Action.rollback
    /// Parts per 10,000 of the calls in the window that one caller may make up; more of it do not count (Default: all).
    package var maximumKeyShare = 10_000

    package init(minimumRequests: Int) { self.minimumRequests = minimumRequests }
  }

  /// `fallback:`, a second question for calls that fail.
  package struct Fallback: Sendable, Equatable {
    /// (Default: false).
    package var isOn = false
    /// Whether calls that may have side effects are asked again too (Default: false).
    package var unsafe = false
    /// Bytes that are kept of a request that passes, and of an answer that may turn out to be a failure (Default: 64KiB).
    package var maxBody = 64 << 10
    /// Of the value, where it is given.
    package var position: SourcePosition?
    package init() {}
  }

  /// `ramp:`, a canary's share that grows by itself.
  package struct Ramp: Sendable, Equatable {
    /// Parts per 10,000, ascending; at least one.
    package var steps: [Int]
    package var every: Duration

    package init(steps: [Int], every: Duration) {
      self.steps = steps
      self.every = every
    }
  }
}
