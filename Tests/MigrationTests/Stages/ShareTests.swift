import Testing

@testable import Migration

@Suite struct ShareTests {
  @Test(arguments: [(0.0, 0), (100.0, 10_000), (0.01, 1), (12.344, 1234), (12.346, 1235), (99.999, 10_000)])
  func percentsAreRoundedToHundredths(_ percent: Double, _ hundredths: Int) {
    #expect(Share(percent: percent)?.hundredths == hundredths)
  }

  @Test(arguments: [-0.01, 100.01, .nan, .infinity, -.infinity])
  func otherNumbersAreNoShare(_ percent: Double) {
    #expect(Share(percent: percent) == nil)
  }

  @Test func hundredthsHaveBounds() {
    #expect(Share(hundredths: -1) == nil)
    #expect(Share(hundredths: 10_001) == nil)
    #expect(Share(hundredths: 2_550)?.percent == 25.5)
  }
}
