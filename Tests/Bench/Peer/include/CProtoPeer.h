#pragma once

// The door to what turnout-bench compares with: libprotobuf's own JSON functions, on the same descriptors.
// And to the count of allocations, since only C can stand in for malloc.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CProtoPeer CProtoPeer;

/// What a call gave; it lives until the next call on the same peer. `bytes` is NULL when the call failed.
typedef struct {
  const uint8_t *bytes;
  size_t length;
} CProtoPeerResult;

/// Makes a peer for one message type of a serialized FileDescriptorSet; NULL when the set lacks it.
CProtoPeer *proto_peer_make(const uint8_t *descriptorSet, size_t length, const char *message);
void proto_peer_free(CProtoPeer *peer);

/// JsonStringToMessage into a DynamicMessage that is kept and cleared, then serialised.
CProtoPeerResult proto_peer_decode(CProtoPeer *peer, const uint8_t *json, size_t length);
/// A DynamicMessage that is kept and cleared is parsed, then MessageToJsonString.
CProtoPeerResult proto_peer_encode(CProtoPeer *peer, const uint8_t *wire, size_t length);

/// JsonToBinaryString and BinaryToJsonString: no message between, and a type resolver that is kept.
CProtoPeerResult proto_peer_decode_binary(CProtoPeer *peer, const uint8_t *json, size_t length);
CProtoPeerResult proto_peer_encode_binary(CProtoPeer *peer, const uint8_t *wire, size_t length);

/// The wire bytes of a message in the one form of deterministic serialisation.
CProtoPeerResult proto_peer_canonical(CProtoPeer *peer, const uint8_t *wire, size_t length);

/// Why the last call failed.
const char *proto_peer_fault(const CProtoPeer *peer);

/// Calls of malloc and its kin by this thread since it began; 0 for ever in sanitized builds, which have a malloc
/// of their own.
uint64_t proto_peer_allocations(void);

#ifdef __cplusplus
}
#endif
