#include "LibraryFiles.h"

using google::protobuf::DescriptorPool;
using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;

namespace {

/// Adds an optional bool, unless this release has it.
void addOption(FileDescriptorProto &file, const std::string &message, const std::string &name, int number) {
  for (DescriptorProto &type : *file.mutable_message_type()) {
    if (type.name() != message) continue;
    for (const FieldDescriptorProto &field : type.field()) {
      if (field.name() == name || field.number() == number) return;
    }
    FieldDescriptorProto *field = type.add_field();
    field->set_name(name);
    field->set_number(number);
    field->set_label(FieldDescriptorProto::LABEL_OPTIONAL);
    field->set_type(FieldDescriptorProto::TYPE_BOOL);
  }
}

}  // namespace

const char *const LibraryFiles::descriptorFile = "google/protobuf/descriptor.proto";

bool LibraryFiles::FindFileByName(const std::string &name, FileDescriptorProto *output) {
  const FileDescriptor *file = DescriptorPool::generated_pool()->FindFileByName(name);
  if (file == nullptr) return false;
  file->CopyTo(output);
  if (name == descriptorFile) {
    addOption(*output, "FieldOptions", "debug_redact", 16);
    addOption(*output, "EnumValueOptions", "debug_redact", 3);
  }
  return true;
}

// Files are only asked for by name: sources import what they use.
bool LibraryFiles::FindFileContainingSymbol(const std::string &, FileDescriptorProto *) { return false; }
bool LibraryFiles::FindFileContainingExtension(const std::string &, int, FileDescriptorProto *) { return false; }
