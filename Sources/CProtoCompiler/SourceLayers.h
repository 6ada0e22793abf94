#pragma once

#include <google/protobuf/compiler/importer.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "SourceText.h"

/// Where sources are looked for: import paths in their order, then what is built in. Files that libprotobuf itself
/// was generated from are left to its own pool, so that a newer copy on an import path cannot break its parser.
class SourceLayers : public google::protobuf::compiler::SourceTree {
 public:
  void addImportPath(const std::string &path);

  /// The name under which a file of the command is imported: itself, or its path inside an import path.
  std::string importName(const std::string &file);

  /// The path on disk, or the name itself when the file is not there.
  std::string diskPath(const std::string &name);

  /// The text of a source, read once; nullptr with an error message when it cannot be read or is not fit to parse.
  const SourceText *text(const std::string &name);

  google::protobuf::io::ZeroCopyInputStream *Open(const std::string &name) override;
  std::string GetLastErrorMessage() override;

 private:
  /// Whether a name leads to a pipe or a device, whose opening could wait for ever.
  bool isNoFile(const std::string &name) const;

  std::vector<std::string> importPaths;
  google::protobuf::compiler::DiskSourceTree disk;
  std::map<std::string, std::unique_ptr<SourceText>> texts;
  std::string lastError;
};
