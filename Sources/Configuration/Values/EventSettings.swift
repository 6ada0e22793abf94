extension RouteSettings {
  /// `events:` of a route: the fields of a stream's messages that server-sent events have besides their data.
  package struct Events: Sendable, Equatable {
    /// For `event:`; nil: there is none.
    package var event: Reference?
    /// For `id:`; nil: there is none.
    package var id: Reference?

    package init() {}
  }
}
