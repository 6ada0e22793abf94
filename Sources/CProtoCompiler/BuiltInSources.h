#pragma once

#include <string>

/// The text of a `.proto` file that is always at hand (google.api, google.rpc), or nullptr.
const char *builtInSource(const std::string &name);
