#include "CProtoCompiler.h"

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "BuiltInSources.h"
#include "FaultCollector.h"
#include "LibraryFiles.h"
#include "SourceLayers.h"
#include "SourceText.h"

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::SourceCodeInfo;
using google::protobuf::compiler::SourceTreeDescriptorDatabase;

namespace {

/// The C struct comes first, so that a pointer to it is a pointer to this.
struct Compilation {
  CProtoCompilation visible;
  std::string bytes;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<Fault> faults;
  std::vector<CProtoFile> visibleFiles;
  std::vector<CProtoFault> visibleFaults;

  void expose() {
    for (const Fault &fault : faults) {
      visibleFaults.push_back(
          CProtoFault{fault.file.c_str(), fault.line, fault.column, fault.isWarning, fault.message.c_str()});
    }
    for (const auto &file : files) visibleFiles.push_back(CProtoFile{file.first.c_str(), file.second.c_str()});
    visible.files = visibleFiles.data();
    visible.fileCount = visibleFiles.size();
    visible.descriptorSet = reinterpret_cast<const uint8_t *>(bytes.data());
    visible.descriptorSetLength = bytes.size();
    visible.faults = visibleFaults.data();
    visible.faultCount = visibleFaults.size();
  }
};

/// Whether a path of SourceCodeInfo leads to a declaration, or to an option of a method.
bool leadsToDeclaration(const SourceCodeInfo::Location &location) {
  if (location.path_size() == 0 || location.path_size() % 2 != 0) return false;
  for (int i = 0; i < location.path_size(); i += 2) {
    // Messages, enums, services and extensions of a file; fields, types and methods inside.
    const int field = location.path(i);
    if (i == 0 ? field < 4 || field > 7 : field != 2 && field != 3 && field != 4 && field != 6) return false;
  }
  return true;
}

/// Keeps the places of declarations, with columns in characters.
void keepPlaces(SourceCodeInfo &info, const SourceText &text) {
  SourceCodeInfo kept;
  for (const SourceCodeInfo::Location &location : info.location()) {
    if (location.span_size() < 3 || !leadsToDeclaration(location)) continue;
    SourceCodeInfo::Location *place = kept.add_location();
    *place->mutable_path() = location.path();
    place->add_span(location.span(0));
    place->add_span(text.characterColumn(location.span(0), location.span(1)) - 1);
  }
  info = kept;
}

/// The files of a run, each behind everything that it imports.
struct Collected {
  SourceLayers &layers;
  Compilation &compilation;
  FileDescriptorSet set;
  std::set<std::string> seen;

  void append(const FileDescriptor *file) {
    if (!seen.insert(file->name()).second) return;
    for (int i = 0; i < file->dependency_count(); i++) append(file->dependency(i));
    FileDescriptorProto *target = set.add_file();
    file->CopyTo(target);
    file->CopyJsonNameTo(target);
    const std::string path = layers.diskPath(file->name());
    if (path == file->name() && builtInSource(path) != nullptr) return;
    const SourceText *text = layers.text(file->name());
    if (text == nullptr) return;
    file->CopySourceCodeInfoTo(target);
    keepPlaces(*target->mutable_source_code_info(), *text);
    compilation.files.emplace_back(file->name(), path);
  }
};

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

  Collected collected{layers, compilation, {}, {}};
  for (const std::string &file : files) {
    if (const FileDescriptor *descriptor = pool.FindFileByName(layers.importName(file))) collected.append(descriptor);
  }
  collected.set.SerializeToString(&compilation.bytes);
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
