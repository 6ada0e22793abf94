#include "CProtoCompiler.h"

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "FaultCollector.h"
#include "LibraryFiles.h"
#include "SourceLayers.h"

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::compiler::SourceTreeDescriptorDatabase;

namespace {

/// The C struct comes first, so that a pointer to it is a pointer to this.
struct Compilation {
  CProtoCompilation visible;
  std::string bytes;
  std::vector<Fault> faults;
  std::vector<CProtoFault> visibleFaults;

  void expose() {
    for (const Fault &fault : faults) {
      visibleFaults.push_back(
          CProtoFault{fault.file.c_str(), fault.line, fault.column, fault.isWarning, fault.message.c_str()});
    }
    visible.descriptorSet = reinterpret_cast<const uint8_t *>(bytes.data());
    visible.descriptorSetLength = bytes.size();
    visible.faults = visibleFaults.data();
    visible.faultCount = visibleFaults.size();
  }
};

/// Adds a file behind everything that it imports.
void append(const FileDescriptor *file, std::set<std::string> &seen, FileDescriptorSet &set) {
  if (!seen.insert(file->name()).second) return;
  for (int i = 0; i < file->dependency_count(); i++) append(file->dependency(i), seen, set);
  FileDescriptorProto *target = set.add_file();
  file->CopyTo(target);
  file->CopyJsonNameTo(target);
}

void silenceLibrary() {
  // It would write notes (`No syntax specified …`) to stderr, where the program's own log goes.
  static std::once_flag once;
  std::call_once(once, [] { google::protobuf::SetLogHandler(nullptr); });
}

void compile(
    Compilation &compilation, const std::vector<std::string> &files, const std::vector<std::string> &importPaths) {
  SourceLayers layers;
  for (const std::string &path : importPaths) layers.addImportPath(path);
  FaultCollector collector(layers);
  LibraryFiles library;
  SourceTreeDescriptorDatabase database(&layers, &library);
  database.RecordErrorsTo(&collector);
  DescriptorPool pool(&database, database.GetValidationErrorCollector());
  pool.EnforceWeakDependencies(true);

  // The interpreter of options takes their types from the pool once they are in it.
  pool.FindFileByName(LibraryFiles::descriptorFile);

  FileDescriptorSet set;
  std::set<std::string> seen;
  for (const std::string &file : files) {
    if (const FileDescriptor *descriptor = pool.FindFileByName(layers.importName(file))) append(descriptor, seen, set);
  }
  set.SerializeToString(&compilation.bytes);
  compilation.faults = collector.finish();
}

}  // namespace

CProtoCompilation *proto_compilation_run(
    const char *const *files, size_t fileCount, const char *const *importPaths, size_t importPathCount) {
  Compilation *compilation = nullptr;
  try {
    silenceLibrary();
    compilation = new Compilation();
    compile(
        *compilation, std::vector<std::string>(files, files + fileCount),
        std::vector<std::string>(importPaths, importPaths + importPathCount));
    compilation->expose();
    return &compilation->visible;
  } catch (const std::bad_alloc &) {
    delete compilation;
    return nullptr;
  }
}

void proto_compilation_free(CProtoCompilation *compilation) { delete reinterpret_cast<Compilation *>(compilation); }
