// Translates what comes through a pipe with the gateway's own code, for tests that compare it with another
// implementation of protobuf (Tests/Interop/test_oracle.py).
//
// A request is a letter, the length of its content as a little-endian 32-bit number, and the content; an answer is
// a status byte (0 done, 1 refused with the reason, 2 a fault of the translation), a length and a content. See Testee.

var pipe = Pipe()
var testee = Testee()
while let request = try pipe.next() {
  let answer = testee.answer(request.kind, request.content)
  try pipe.answer(answer.status.rawValue, answer.content)
}
