#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <memory>
#include <string>

#include "CProtoPeer.h"

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::DynamicMessageFactory;
using google::protobuf::FileDescriptorSet;
using google::protobuf::Message;
namespace util = google::protobuf::util;

struct CProtoPeer {
  DescriptorPool pool;
  DynamicMessageFactory factory{&pool};
  std::unique_ptr<Message> message;
  std::unique_ptr<util::TypeResolver> resolver;
  std::string url;
  std::string output;
  std::string fault;

  CProtoPeerResult give(bool isWell) {
    if (!isWell) return CProtoPeerResult{nullptr, 0};
    return CProtoPeerResult{reinterpret_cast<const uint8_t *>(output.data()), output.size()};
  }

  CProtoPeerResult give(const util::Status &status) {
    if (!status.ok()) fault = status.ToString();
    return give(status.ok());
  }

  bool parse(const uint8_t *wire, size_t length) {
    // Clear keeps the memory of the fields: the cheapest way to use a message again.
    message->Clear();
    const bool isWell = message->ParseFromArray(wire, static_cast<int>(length));
    if (!isWell) fault = "not the wire form of the message";
    return isWell;
  }
};

namespace {

google::protobuf::StringPiece piece(const uint8_t *bytes, size_t length) {
  return google::protobuf::StringPiece(reinterpret_cast<const char *>(bytes), length);
}

}  // namespace

CProtoPeer *proto_peer_make(const uint8_t *descriptorSet, size_t length, const char *message) {
  auto peer = std::make_unique<CProtoPeer>();
  FileDescriptorSet set;
  if (!set.ParseFromArray(descriptorSet, static_cast<int>(length))) return nullptr;
  for (const auto &file : set.file()) {
    if (peer->pool.BuildFile(file) == nullptr) return nullptr;
  }
  const Descriptor *type = peer->pool.FindMessageTypeByName(message);
  if (type == nullptr) return nullptr;
  peer->message.reset(peer->factory.GetPrototype(type)->New());
  const std::string prefix = "type.googleapis.com";
  peer->resolver.reset(util::NewTypeResolverForDescriptorPool(prefix, &peer->pool));
  peer->url = prefix + "/" + message;
  return peer.release();
}

void proto_peer_free(CProtoPeer *peer) { delete peer; }

CProtoPeerResult proto_peer_decode(CProtoPeer *peer, const uint8_t *json, size_t length) {
  peer->message->Clear();
  const util::Status status = util::JsonStringToMessage(piece(json, length), peer->message.get());
  if (!status.ok()) return peer->give(status);
  peer->output.clear();
  return peer->give(peer->message->SerializeToString(&peer->output));
}

CProtoPeerResult proto_peer_encode(CProtoPeer *peer, const uint8_t *wire, size_t length) {
  if (!peer->parse(wire, length)) return peer->give(false);
  peer->output.clear();
  return peer->give(util::MessageToJsonString(*peer->message, &peer->output));
}

CProtoPeerResult proto_peer_decode_binary(CProtoPeer *peer, const uint8_t *json, size_t length) {
  google::protobuf::io::ArrayInputStream input(json, static_cast<int>(length));
  peer->output.clear();
  google::protobuf::io::StringOutputStream output(&peer->output);
  return peer->give(util::JsonToBinaryStream(peer->resolver.get(), peer->url, &input, &output));
}

CProtoPeerResult proto_peer_encode_binary(CProtoPeer *peer, const uint8_t *wire, size_t length) {
  google::protobuf::io::ArrayInputStream input(wire, static_cast<int>(length));
  peer->output.clear();
  google::protobuf::io::StringOutputStream output(&peer->output);
  return peer->give(util::BinaryToJsonStream(peer->resolver.get(), peer->url, &input, &output));
}

CProtoPeerResult proto_peer_canonical(CProtoPeer *peer, const uint8_t *wire, size_t length) {
  if (!peer->parse(wire, length)) return peer->give(false);
  peer->output.clear();
  google::protobuf::io::StringOutputStream stream(&peer->output);
  {
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!peer->message->SerializeToCodedStream(&coded)) return peer->give(false);
  }
  return peer->give(true);
}

const char *proto_peer_fault(const CProtoPeer *peer) { return peer->fault.c_str(); }
