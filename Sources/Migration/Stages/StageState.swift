/// What is set for one route, and by whom: the file's setting, what lies over it, how it came to that.
///
/// The file is the desired state. A change at run time lies over it until the file says something new or somebody ends
/// it; a guard's trip lies over both until somebody sets the stage again.
package struct StageState: Sendable, Equatable {
  /// A change at run time.
  package struct Override: Sendable, Equatable {
    package var setting: StageSetting
    package var origin: StageOrigin

    package init(_ setting: StageSetting, _ origin: StageOrigin) {
      self.setting = setting
      self.origin = origin
    }
  }

  /// What a guard did.
  package struct Trip: Sendable, Equatable {
    /// What it put the route to, and from where.
    package var setting: StageSetting
    package var from: StageSetting
    package var reason: String
    /// Nanoseconds since 1970.
    package var at: Int64

    package init(to setting: StageSetting, from: StageSetting, reason: String, at: Int64) {
      self.setting = setting
      self.from = from
      self.reason = reason
      self.at = at
    }
  }

  /// All that lies over the file: what a state file and other replicas know.
  package struct Overlay: Sendable, Equatable {
    package var override: Override?
    package var trip: Trip?
    /// A ramp stands still.
    package var isHeld: Bool

    package init(override: Override? = nil, trip: Trip? = nil, isHeld: Bool = false) {
      self.override = override
      self.trip = trip
      self.isHeld = isHeld
    }
  }

  /// Records that are kept.
  static let historyLength = 20

  /// `pkg.Service/Method`.
  package let procedure: String
  /// What the newest published file says.
  package private(set) var configured: StageSetting
  package private(set) var overlay: Overlay
  /// Newest first.
  package private(set) var history: [StageChangeRecord] = []
  /// Grows with each change of ``overlay`` or ``configured``.
  package private(set) var revision = 0

  package init(procedure: String, configured: StageSetting) {
    self.procedure = procedure
    self.configured = configured
    overlay = Overlay()
  }

  /// What calls follow.
  package var effective: StageSetting { overlay.trip?.setting ?? overlay.override?.setting ?? configured }
  package var override: Override? { overlay.override }
  package var trip: Trip? { overlay.trip }
  package var isHeld: Bool { overlay.isHeld }
  /// When the newest change was, in nanoseconds since 1970; 0 before the first.
  package var changedAt: Int64 { history.first?.origin.at ?? 0 }

  // MARK: Changes; each gives its record, nil when nothing was changed

  /// The file says this now. What lies over it ends if that is something new.
  package mutating func publish(_ setting: StageSetting, at time: Int64) -> StageChangeRecord? {
    guard setting != configured else { return nil }
    return change(StageOrigin(.file, at: time)) { state in
      state.configured = setting
      state.overlay.override = nil
      state.overlay.trip = nil
    }
  }

  /// A change at run time; it clears a trip.
  package mutating func set(_ setting: StageSetting, _ origin: StageOrigin) -> StageChangeRecord? {
    change(origin) { state in
      state.overlay.override = Override(setting, origin)
      state.overlay.trip = nil
    }
  }

  /// Back to the file; it clears a trip too.
  package mutating func clear(_ origin: StageOrigin) -> StageChangeRecord? {
    guard override != nil || trip != nil else { return nil }
    return change(origin) { state in
      state.overlay.override = nil
      state.overlay.trip = nil
    }
  }

  /// A ramp goes on, unless somebody came between.
  package mutating func advance(
    from before: StageSetting, to setting: StageSetting, _ origin: StageOrigin
  ) -> StageChangeRecord? {
    guard trip == nil, !isHeld, effective == before else { return nil }
    return change(origin) { state in state.overlay.override = Override(setting, origin) }
  }

  /// A guard takes the route back; the second trip changes nothing.
  ///
  /// - Parameter judged: the ``revision`` that the guard has looked at; when somebody came between, nothing is changed.
  package mutating func trip(
    to setting: StageSetting, judged: Int? = nil, reason: String, at time: Int64
  ) -> StageChangeRecord? {
    guard trip == nil, judged ?? revision == revision else { return nil }
    return change(StageOrigin(.guard, reason: reason, at: time)) { state in
      state.overlay.trip = Trip(to: setting, from: state.effective, reason: reason, at: time)
    }
  }

  /// Stops the ramp or lets it go on; nil when that is so already.
  package mutating func hold(_ isHeld: Bool, _ origin: StageOrigin) -> StageChangeRecord? {
    guard isHeld != self.isHeld else { return nil }
    return change(origin, isHeld ? .held : .released) { state in state.overlay.isHeld = isHeld }
  }

  /// What a state file or another replica knows takes the place of what is known here.
  package mutating func restore(_ overlay: Overlay, _ origin: StageOrigin) -> StageChangeRecord? {
    guard overlay != self.overlay else { return nil }
    let isMoved =
      (overlay.override?.setting, overlay.trip?.setting) != (override?.setting, trip?.setting)
    let action: StageChangeRecord.Action =
      isMoved || overlay.isHeld == isHeld ? .moved : overlay.isHeld ? .held : .released
    return change(origin, action) { state in state.overlay = overlay }
  }

  private mutating func change(
    _ origin: StageOrigin, _ action: StageChangeRecord.Action = .moved, _ body: (inout StageState) -> Void
  ) -> StageChangeRecord {
    let before = effective
    body(&self)
    revision += 1
    let record = StageChangeRecord(
      procedure: procedure, from: before, to: effective, origin: origin, action: action)
    history.insert(record, at: 0)
    if history.count > Self.historyLength { history.removeLast() }
    return record
  }
}
