import ProtoJSON

/// What must hold for any bytes that are read as a message: what becomes JSON is valid, bounded, read again, and then
/// the same JSON for ever.
package struct WireCheck {
  /// Whether the bytes became JSON.
  package private(set) var isAccepted = false
  package private(set) var fault: String?

  package init(_ rig: CodecRig, _ input: [UInt8]) {
    guard let job = rig.job(input) else { return }
    let json: [UInt8]
    do { json = try job.codec.encoded(job.content, job.message) } catch {
      // In the careful run offsets may be of a copy, which is never longer.
      if error.offset < 0 || error.offset > job.content.count || error.reason.isEmpty {
        fault = "refused without a place: \(error) for \(job.content)"
      }
      return
    }
    isAccepted = true
    // One value may go beyond the limit, and the names of unset fields of the messages that are open.
    if json.count > CodecRig.maximumOutput + job.content.count * 6 + 16_384 {
      fault = "\(json.count) bytes of JSON for \(job.content)"
    } else if !JSONGrammar.accepts(json) {
      fault = "\(job.content) is written as what is no JSON: \(text(json))"
    } else {
      fault = Self.secondRound(job, json)
    }
  }

  private static func secondRound(_ job: CodecRig.Job, _ json: [UInt8]) -> String? {
    let wire: [UInt8]
    do { wire = try job.reader.decoded(json, job.message) } catch {
      return "\(job.content) is written as \(text(json)), which is refused: \(error.message)"
    }
    do {
      let again = try job.codec.encoded(wire, job.message)
      // Defaults stand behind what is set: a default that was on the wire moves there.
      let isSame = again == json || (job.codec.profile.emitDefaults && again.sorted() == json.sorted())
      if !isSame { return "\(job.content) is \(text(json)), then \(text(again))" }
    } catch {
      return "\(text(json)) is read as \(wire), which is not written: \(error.message)"
    }
    return nil
  }
}
