#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>

#include <string>

/// The files that libprotobuf was built with (google/protobuf), with the options that later releases added and that
/// count here: libprotobuf 3.21 does not know `debug_redact`.
class LibraryFiles : public google::protobuf::DescriptorDatabase {
 public:
  static const char *const descriptorFile;

  bool FindFileByName(const std::string &name, google::protobuf::FileDescriptorProto *output) override;
  bool FindFileContainingSymbol(const std::string &symbol, google::protobuf::FileDescriptorProto *output) override;
  bool FindFileContainingExtension(
      const std::string &type, int number, google::protobuf::FileDescriptorProto *output) override;
};
