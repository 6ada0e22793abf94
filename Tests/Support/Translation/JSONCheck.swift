import ProtoJSON

/// What must hold for any text that is read as JSON: what is accepted is valid JSON, can be written again, and that is
/// read as the same bytes.
package struct JSONCheck {
  /// Whether the text was accepted.
  package private(set) var isAccepted = false
  package private(set) var fault: String?

  package init(_ rig: CodecRig, _ input: [UInt8]) {
    guard let job = rig.job(input) else { return }
    let wire: [UInt8]
    do { wire = try job.codec.decoded(job.content, job.message) } catch {
      if error.offset < 0 || error.offset > job.content.count || error.reason.isEmpty {
        fault = "refused without a place: \(error)"
      }
      return
    }
    isAccepted = true
    if !JSONGrammar.accepts(job.content) {
      fault = "accepted, but no JSON: \(text(job.content))"
      return
    }
    // The same values in both forms; defaults may be a level more than was read.
    for (writer, reader) in [(job.codec, job.reader), (job.plain, job.reader)] {
      let json: [UInt8]
      do { json = try writer.encoded(wire, job.message) } catch {
        // Defaults of many messages may be more text than the limit.
        if error.kind != .range || !error.reason.hasPrefix("less JSON") {
          fault = "\(text(job.content)) is accepted but not written: \(error.message)"
        }
        return
      }
      do {
        let again = try reader.decoded(json, job.message)
        if again != wire { fault = "\(text(job.content)) is \(wire), its JSON \(text(json)) is \(again)" }
      } catch {
        fault = "\(text(job.content)) is written as \(text(json)), which is refused: \(error.message)"
      }
    }
  }
}
