#pragma once

#include <string>

/// The text of a `.proto` file that is always at hand (google.api, google.rpc, grpc), or nullptr.
const char *builtInSource(const std::string &name);
