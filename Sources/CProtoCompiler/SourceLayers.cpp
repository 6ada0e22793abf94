#include "SourceLayers.h"

#include <sys/stat.h>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "BuiltInSources.h"

using google::protobuf::DescriptorPool;
using google::protobuf::compiler::DiskSourceTree;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::ZeroCopyInputStream;

namespace {

/// Far above what people write. The parser works recursively, and positions are ints.
const size_t maximumBytes = 16 << 20;
const int maximumDepth = 100;

bool waitsForOthers(const std::string &path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

bool belongsToLibrary(const std::string &name) {
  return DescriptorPool::generated_pool()->FindFileByName(name) != nullptr;
}

/// Everything up to one byte above the limit.
std::string readAll(ZeroCopyInputStream &stream) {
  std::string text;
  const void *data;
  int size;
  while (text.size() <= maximumBytes && stream.Next(&data, &size)) {
    text.append(static_cast<const char *>(data), size);
  }
  return text;
}

}  // namespace

void SourceLayers::addImportPath(const std::string &path) {
  importPaths.push_back(path);
  disk.MapPath("", path);
}

bool SourceLayers::isNoFile(const std::string &name) const {
  // Also by itself: the library opens a path on disk to find out under which name it is imported.
  if (waitsForOthers(name)) return true;
  for (const std::string &path : importPaths) {
    if (waitsForOthers(path + "/" + name)) return true;
  }
  return false;
}

std::string SourceLayers::importName(const std::string &file) {
  std::string path;
  if (isNoFile(file)) return file;
  if (belongsToLibrary(file) || disk.VirtualFileToDiskFile(file, &path)) return file;
  std::string name, shadowing;
  if (disk.DiskFileToVirtualFile(file, &name, &shadowing) == DiskSourceTree::SUCCESS) return name;
  return file;
}

std::string SourceLayers::diskPath(const std::string &name) {
  std::string path;
  return !isNoFile(name) && disk.VirtualFileToDiskFile(name, &path) ? path : name;
}

const SourceText *SourceLayers::text(const std::string &name) {
  const auto known = texts.find(name);
  if (known != texts.end()) return known->second.get();
  std::unique_ptr<SourceText> source;
  if (isNoFile(name)) {
    lastError = "It is not a file (a pipe or a device).";
    return nullptr;
  }
  if (const std::unique_ptr<ZeroCopyInputStream> stream{disk.Open(name)}) {
    source.reset(new SourceText(readAll(*stream)));
  } else {
    lastError = disk.GetLastErrorMessage();
    if (const char *builtIn = builtInSource(name)) source.reset(new SourceText(builtIn));
  }
  if (source && source->text.size() > maximumBytes) {
    lastError = "Larger than 16 MiB.";
    source.reset();
  } else if (source && source->depth() > maximumDepth) {
    lastError = "Nested deeper than 100 levels.";
    source.reset();
  }
  if (!source) return nullptr;
  return texts.emplace(name, std::move(source)).first->second.get();
}

ZeroCopyInputStream *SourceLayers::Open(const std::string &name) {
  if (belongsToLibrary(name)) return nullptr;
  const SourceText *source = text(name);
  if (source == nullptr) return nullptr;
  return new ArrayInputStream(source->text.data(), static_cast<int>(source->text.size()));
}

std::string SourceLayers::GetLastErrorMessage() { return lastError; }
