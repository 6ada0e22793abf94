import Bytes
import Testing

@testable import ProtobufSchema

/// The descriptors that the program carries, so that nothing has to be compiled at start.
@Suite struct BuiltInFilesTests {
  @Test func theyAreWhatTheCompilerMakesOfTheSources() {
    let made = ProtoCompiler.compile(files: BuiltInFiles.always + BuiltInFiles.onDemand, importPaths: []).descriptorSet
    var text = ByteBuffer()
    Base64.encode(made.span, into: &text)
    let lines = String(repairing: text.span)
    // What stands in BuiltInDescriptors.swift when this fails.
    #expect(lines == "\(BuiltInDescriptors.base64)", "the new text is \(lines)")
  }

  @Test func theyCanBeReadAndAreAllThere() {
    let names = Set(BuiltInFiles.all.map(\.name))
    #expect(names == Set(BuiltInFiles.always + BuiltInFiles.onDemand))
  }
}
