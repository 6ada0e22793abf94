/// Finds what somebody probably meant.
package enum Nearest {
  /// Longer names are never guessed: the work grows with the product of the lengths.
  static let longestName = 128

  /// The candidate with the smallest edit distance to a misspelt name, if it is near enough to be a guess.
  ///
  /// Of several equally near ones the first is taken.
  package static func match(_ name: String, in candidates: some Sequence<String>) -> String? {
    guard name.utf8.count <= longestName else { return nil }
    let limit = max(1, name.count / 3)
    var best: (name: String, distance: Int)?
    for candidate in candidates where candidate.utf8.count <= longestName {
      guard abs(candidate.count - name.count) <= limit else { continue }
      let distance = editDistance(name, candidate)
      if distance <= limit, distance < best?.distance ?? Int.max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// Insertions, deletions, changes and swaps of neighbours between two names, without regard to case.
  static func editDistance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased())
    let b = Array(right.lowercased())
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let change = last[j] + (a[i] == b[j] ? 0 : 1)
        var cost = min(last[j + 1] + 1, row[j] + 1, change)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
