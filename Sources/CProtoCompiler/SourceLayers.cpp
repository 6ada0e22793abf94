#include "SourceLayers.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstring>
#include <memory>

#include "BuiltInSources.h"

using google::protobuf::DescriptorPool;
using google::protobuf::compiler::DiskSourceTree;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::ZeroCopyInputStream;

namespace {

bool belongsToLibrary(const std::string &name) {
  return DescriptorPool::generated_pool()->FindFileByName(name) != nullptr;
}

}  // namespace

void SourceLayers::addImportPath(const std::string &path) { disk.MapPath("", path); }

std::string SourceLayers::importName(const std::string &file) {
  std::string path;
  if (belongsToLibrary(file) || disk.VirtualFileToDiskFile(file, &path)) return file;
  std::string name, shadowing;
  if (disk.DiskFileToVirtualFile(file, &name, &shadowing) == DiskSourceTree::SUCCESS) return name;
  return file;
}

std::string SourceLayers::diskPath(const std::string &name) {
  std::string path;
  return disk.VirtualFileToDiskFile(name, &path) ? path : name;
}

ZeroCopyInputStream *SourceLayers::Open(const std::string &name) {
  if (belongsToLibrary(name)) return nullptr;
  if (ZeroCopyInputStream *stream = disk.Open(name)) return stream;
  lastError = disk.GetLastErrorMessage();
  if (const char *text = builtInSource(name)) {
    return new ArrayInputStream(text, static_cast<int>(std::strlen(text)));
  }
  return nullptr;
}

std::string SourceLayers::GetLastErrorMessage() { return lastError; }

std::string sourceText(SourceLayers &layers, const std::string &name) {
  std::string text;
  std::unique_ptr<ZeroCopyInputStream> stream(layers.Open(name));
  const void *data;
  int size;
  while (stream && stream->Next(&data, &size)) text.append(static_cast<const char *>(data), size);
  return text;
}
