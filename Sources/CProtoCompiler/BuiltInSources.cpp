#include "BuiltInSources.h"

#include <map>

// The interface of google.api.http, google.api.HttpBody, the google.rpc error model, and gRPC's health and reflection,
// written from the published names and numbers. Only what goes over the wire is stated.

namespace {

const char annotations[] = R"(
syntax = "proto3";
package google.api;
import "google/api/http.proto";
import "google/protobuf/descriptor.proto";
extend google.protobuf.MethodOptions { HttpRule http = 72295728; }
)";

const char http[] = R"(
syntax = "proto3";
package google.api;
message Http {
  repeated HttpRule rules = 1;
  bool fully_decode_reserved_expansion = 2;
}
message HttpRule {
  string selector = 1;
  oneof pattern {
    string get = 2;
    string put = 3;
    string post = 4;
    string delete = 5;
    string patch = 6;
    CustomHttpPattern custom = 8;
  }
  string body = 7;
  string response_body = 12;
  repeated HttpRule additional_bindings = 11;
}
message CustomHttpPattern {
  string kind = 1;
  string path = 2;
}
)";

const char httpBody[] = R"(
syntax = "proto3";
package google.api;
import "google/protobuf/any.proto";
message HttpBody {
  string content_type = 1;
  bytes data = 2;
  repeated google.protobuf.Any extensions = 3;
}
)";

const char status[] = R"(
syntax = "proto3";
package google.rpc;
import "google/protobuf/any.proto";
message Status {
  int32 code = 1;
  string message = 2;
  repeated google.protobuf.Any details = 3;
}
)";

const char code[] = R"(
syntax = "proto3";
package google.rpc;
enum Code {
  OK = 0;
  CANCELLED = 1;
  UNKNOWN = 2;
  INVALID_ARGUMENT = 3;
  DEADLINE_EXCEEDED = 4;
  NOT_FOUND = 5;
  ALREADY_EXISTS = 6;
  PERMISSION_DENIED = 7;
  RESOURCE_EXHAUSTED = 8;
  FAILED_PRECONDITION = 9;
  ABORTED = 10;
  OUT_OF_RANGE = 11;
  UNIMPLEMENTED = 12;
  INTERNAL = 13;
  UNAVAILABLE = 14;
  DATA_LOSS = 15;
  UNAUTHENTICATED = 16;
}
)";

const char errorDetails[] = R"(
syntax = "proto3";
package google.rpc;
import "google/protobuf/duration.proto";
message ErrorInfo {
  string reason = 1;
  string domain = 2;
  map<string, string> metadata = 3;
}
message RetryInfo { google.protobuf.Duration retry_delay = 1; }
message DebugInfo {
  repeated string stack_entries = 1;
  string detail = 2;
}
message QuotaFailure {
  message Violation {
    string subject = 1;
    string description = 2;
    string api_service = 3;
    string quota_metric = 4;
    string quota_id = 5;
    map<string, string> quota_dimensions = 6;
    int64 quota_value = 7;
    optional int64 future_quota_value = 8;
  }
  repeated Violation violations = 1;
}
message PreconditionFailure {
  message Violation {
    string type = 1;
    string subject = 2;
    string description = 3;
  }
  repeated Violation violations = 1;
}
message BadRequest {
  message FieldViolation {
    string field = 1;
    string description = 2;
    string reason = 3;
    LocalizedMessage localized_message = 4;
  }
  repeated FieldViolation field_violations = 1;
}
message RequestInfo {
  string request_id = 1;
  string serving_data = 2;
}
message ResourceInfo {
  string resource_type = 1;
  string resource_name = 2;
  string owner = 3;
  string description = 4;
}
message Help {
  message Link {
    string description = 1;
    string url = 2;
  }
  repeated Link links = 1;
}
message LocalizedMessage {
  string locale = 1;
  string message = 2;
}
)";

const char health[] = R"(
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus {
    UNKNOWN = 0;
    SERVING = 1;
    NOT_SERVING = 2;
    SERVICE_UNKNOWN = 3;
  }
  ServingStatus status = 1;
}
message HealthListRequest {}
message HealthListResponse { map<string, HealthCheckResponse> statuses = 1; }
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc List(HealthListRequest) returns (HealthListResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}
)";

// Both versions say the same but for the package.
#define REFLECTION(VERSION) R"(
syntax = "proto3";
package grpc.reflection.)" VERSION R"(;
message ServerReflectionRequest {
  string host = 1;
  oneof message_request {
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    ExtensionRequest file_containing_extension = 5;
    string all_extension_numbers_of_type = 6;
    string list_services = 7;
  }
}
message ExtensionRequest {
  string containing_type = 1;
  int32 extension_number = 2;
}
message ServerReflectionResponse {
  string valid_host = 1;
  ServerReflectionRequest original_request = 2;
  oneof message_response {
    FileDescriptorResponse file_descriptor_response = 4;
    ExtensionNumberResponse all_extension_numbers_response = 5;
    ListServiceResponse list_services_response = 6;
    ErrorResponse error_response = 7;
  }
}
message FileDescriptorResponse { repeated bytes file_descriptor_proto = 1; }
message ExtensionNumberResponse {
  string base_type_name = 1;
  repeated int32 extension_number = 2;
}
message ListServiceResponse { repeated ServiceResponse service = 1; }
message ServiceResponse { string name = 1; }
message ErrorResponse {
  int32 error_code = 1;
  string error_message = 2;
}
service ServerReflection {
  rpc ServerReflectionInfo(stream ServerReflectionRequest) returns (stream ServerReflectionResponse);
}
)"

const char reflection[] = REFLECTION("v1");
const char reflectionAlpha[] = REFLECTION("v1alpha");

}  // namespace

const char *builtInSource(const std::string &name) {
  static const std::map<std::string, const char *> sources = {
      {"google/api/annotations.proto", annotations}, {"google/api/http.proto", http},
      {"google/api/httpbody.proto", httpBody},       {"google/rpc/status.proto", status},
      {"google/rpc/code.proto", code},               {"google/rpc/error_details.proto", errorDetails},
      {"grpc/health/v1/health.proto", health},       {"grpc/reflection/v1/reflection.proto", reflection},
      {"grpc/reflection/v1alpha/reflection.proto", reflectionAlpha},
  };
  const auto found = sources.find(name);
  return found == sources.end() ? nullptr : found->second;
}
