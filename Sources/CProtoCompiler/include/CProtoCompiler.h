#pragma once

// The door to libprotobuf's compiler: `.proto` sources in, a FileDescriptorSet or positioned faults out.
// C++ stays behind it, since Swift's C++ mode does not link with a static standard library.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One fault in a source, or in what surrounds it.
typedef struct {
  /// The path on disk if the file exists there, else the name that was imported.
  const char *file;
  /// From 1; 0 when the fault is in no place of the file (it cannot be read).
  int line;
  /// In characters, from 1; 0 without a line.
  int column;
  bool isWarning;
  const char *message;
} CProtoFault;

/// A file of the set that was read from disk.
typedef struct {
  /// As in FileDescriptorProto.name.
  const char *name;
  const char *path;
} CProtoFile;

/// What one run gave. All pointers live until `proto_compilation_free`.
typedef struct {
  /// A serialized google.protobuf.FileDescriptorSet with all imports, each file after what it imports.
  /// Holds the files that compiled, also when others have faults.
  const uint8_t *descriptorSet;
  size_t descriptorSetLength;
  /// Those of the set that came from disk. Their source_code_info has the place of each declaration, from 0, with
  /// columns in characters; comments and what is inside declarations are left out.
  const CProtoFile *files;
  size_t fileCount;
  const CProtoFault *faults;
  size_t faultCount;
} CProtoCompilation;

/// Compiles sources. A file is named relative to an import path, or by a path on disk inside one. Files of
/// google/protobuf come from the library, and google/api and google/rpc are built in where no import path has them.
/// Returns NULL only when memory ends.
CProtoCompilation *proto_compilation_run(
    const char *const *files, size_t fileCount, const char *const *importPaths, size_t importPathCount);

void proto_compilation_free(CProtoCompilation *compilation);

#ifdef __cplusplus
}
#endif
