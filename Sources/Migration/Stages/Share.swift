/// A part of the callers, in steps of a hundredth of a percent.
package struct Share: Sendable, Hashable, Comparable {
  /// 0 to 10,000.
  package let hundredths: Int

  /// Nil outside 0 to 10,000.
  package init?(hundredths: Int) {
    guard (0...10_000).contains(hundredths) else { return nil }
    self.hundredths = hundredths
  }

  private init(_ hundredths: Int) { self.hundredths = hundredths }

  /// - Parameter percent: 0 to 100, rounded to the nearest hundredth; nil for anything else.
  package init?(percent: Double) {
    guard percent >= 0, percent <= 100 else { return nil }
    hundredths = Int((percent * 100).rounded())
  }

  package static let none = Share(0)
  package static let all = Share(10_000)

  package var percent: Double { Double(hundredths) / 100 }

  /// The percentage in decimal: `25`, `0.5`, `12.34`.
  package var text: String {
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  package static func < (left: Share, right: Share) -> Bool { left.hundredths < right.hundredths }
}
