import Bytes

/// Lines with a label column.
struct ExplanationText {
  private(set) var text = ""

  mutating func line(_ label: String, _ value: String) {
    let padding = String(repeating: " ", count: max(1, 10 - label.count))
    var escaped = ByteBuffer()
    LogText.append(value, to: &escaped)
    text += "\(label)\(padding)\(String(repairing: escaped.span))\n"
  }

  mutating func body(_ value: String) {
    if !value.isEmpty { line("body", value) }
  }

  mutating func refusal(_ status: Int, _ reason: String) -> String {
    line("answer", "\(status), no upstream is asked: \(reason)")
    return text
  }
}
